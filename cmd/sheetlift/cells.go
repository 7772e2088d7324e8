package main

import "github.com/spf13/cobra"

func newCells(std stdio) *cobra.Command {
	return &cobra.Command{Use: "cells FILE", Args: cobra.ExactArgs(1)}
}
