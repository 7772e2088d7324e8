//go:build !purego

#include "textflag.h"

// In both functions each step waits for the result of the one before, for four to six cycles, while the processor could begin another one
// every second or third. So every step is done for two messages in turn, which share no register but some of a moment's use. Their blocks are
// at SI and DI, as many as DX says. Names are those of FIPS 180-4: A to H for the state, W for the words that a block becomes, K for constants.

DATA k256<>+0(SB)/8, $0x71374491428a2f98
DATA k256<>+8(SB)/8, $0xe9b5dba5b5c0fbcf
DATA k256<>+16(SB)/8, $0x59f111f13956c25b
DATA k256<>+24(SB)/8, $0xab1c5ed5923f82a4
DATA k256<>+32(SB)/8, $0x12835b01d807aa98
DATA k256<>+40(SB)/8, $0x550c7dc3243185be
DATA k256<>+48(SB)/8, $0x80deb1fe72be5d74
DATA k256<>+56(SB)/8, $0xc19bf1749bdc06a7
DATA k256<>+64(SB)/8, $0xefbe4786e49b69c1
DATA k256<>+72(SB)/8, $0x240ca1cc0fc19dc6
DATA k256<>+80(SB)/8, $0x4a7484aa2de92c6f
DATA k256<>+88(SB)/8, $0x76f988da5cb0a9dc
DATA k256<>+96(SB)/8, $0xa831c66d983e5152
DATA k256<>+104(SB)/8, $0xbf597fc7b00327c8
DATA k256<>+112(SB)/8, $0xd5a79147c6e00bf3
DATA k256<>+120(SB)/8, $0x1429296706ca6351
DATA k256<>+128(SB)/8, $0x2e1b213827b70a85
DATA k256<>+136(SB)/8, $0x53380d134d2c6dfc
DATA k256<>+144(SB)/8, $0x766a0abb650a7354
DATA k256<>+152(SB)/8, $0x92722c8581c2c92e
DATA k256<>+160(SB)/8, $0xa81a664ba2bfe8a1
DATA k256<>+168(SB)/8, $0xc76c51a3c24b8b70
DATA k256<>+176(SB)/8, $0xd6990624d192e819
DATA k256<>+184(SB)/8, $0x106aa070f40e3585
DATA k256<>+192(SB)/8, $0x1e376c0819a4c116
DATA k256<>+200(SB)/8, $0x34b0bcb52748774c
DATA k256<>+208(SB)/8, $0x4ed8aa4a391c0cb3
DATA k256<>+216(SB)/8, $0x682e6ff35b9cca4f
DATA k256<>+224(SB)/8, $0x78a5636f748f82ee
DATA k256<>+232(SB)/8, $0x8cc7020884c87814
DATA k256<>+240(SB)/8, $0xa4506ceb90befffa
DATA k256<>+248(SB)/8, $0xc67178f2bef9a3f7
GLOBL k256<>(SB), RODATA|NOPTR, $256

// Orders of bytes: each word's turned round, and all sixteen.
DATA words<>+0(SB)/8, $0x0405060700010203
DATA words<>+8(SB)/8, $0x0c0d0e0f08090a0b
GLOBL words<>(SB), RODATA|NOPTR, $16
DATA all<>+0(SB)/8, $0x08090a0b0c0d0e0f
DATA all<>+8(SB)/8, $0x0001020304050607
GLOBL all<>(SB), RODATA|NOPTR, $16

#define LOAD(i, block, w) \
	MOVOU  (i*16)(block), w; \
	PSHUFB X14, w

// Four rounds with the words w. The instruction takes two words, and leaves what A, B, E and F became where C, D, G and H were.
#define ROUNDS256(i, w, abef, cdgh) \
	MOVO        w, X0; \
	PADDD       (i*16)(AX), X0; \
	SHA256RNDS2 X0, abef, cdgh; \
	PSHUFD      $0x0e, X0, X0; \
	SHA256RNDS2 X0, cdgh, abef

// The words after w become ready: v are those before w, and next has what SHA256MSG1 made of the four before them.
#define WORDS256(v, w, next) \
	MOVO       w, X13; \
	PALIGNR    $4, v, X13; \
	PADDD      X13, next; \
	SHA256MSG2 w, next

#define STEP256(i, v, w, next, abef, cdgh) \
	ROUNDS256(i, w, abef, cdgh); \
	WORDS256(v, w, next); \
	SHA256MSG1 w, v

#define READ256(s, abef, cdgh) \
	MOVOU      (s), abef; \
	MOVOU      16(s), cdgh; \
	PSHUFB     X13, abef; \
	PSHUFB     X13, cdgh; \
	MOVO       cdgh, X0; \
	PUNPCKLQDQ abef, cdgh; \
	PUNPCKHQDQ abef, X0; \
	MOVO       X0, abef

#define WRITE256(s, abef, cdgh) \
	MOVO       cdgh, X0; \
	PUNPCKHQDQ abef, X0; \
	PUNPCKLQDQ abef, cdgh; \
	PSHUFB     X13, X0; \
	PSHUFB     X13, cdgh; \
	MOVOU      X0, (s); \
	MOVOU      cdgh, 16(s)

// func sha256Pair(s1, s2 *Sum, p1, p2 *byte, blocks int)
TEXT ·sha256Pair(SB), NOSPLIT, $64-40
	MOVQ  s1+0(FP), R8
	MOVQ  s2+8(FP), R9
	MOVQ  p1+16(FP), SI
	MOVQ  p2+24(FP), DI
	MOVQ  blocks+32(FP), DX
	LEAQ  k256<>(SB), AX
	MOVOU words<>(SB), X14
	MOVOU all<>(SB), X13
	READ256(R8, X1, X2)
	READ256(R9, X7, X8)

block256:
	MOVOU X1, 0(SP)
	MOVOU X2, 16(SP)
	MOVOU X7, 32(SP)
	MOVOU X8, 48(SP)

	LOAD(0, SI, X3)
	LOAD(0, DI, X9)
	ROUNDS256(0, X3, X1, X2)
	ROUNDS256(0, X9, X7, X8)
	LOAD(1, SI, X4)
	LOAD(1, DI, X10)
	ROUNDS256(1, X4, X1, X2)
	ROUNDS256(1, X10, X7, X8)
	SHA256MSG1 X4, X3
	SHA256MSG1 X10, X9
	LOAD(2, SI, X5)
	LOAD(2, DI, X11)
	ROUNDS256(2, X5, X1, X2)
	ROUNDS256(2, X11, X7, X8)
	SHA256MSG1 X5, X4
	SHA256MSG1 X11, X10

	LOAD(3, SI, X6)
	LOAD(3, DI, X12)
	STEP256(3, X5, X6, X3, X1, X2)
	STEP256(3, X11, X12, X9, X7, X8)
	STEP256(4, X6, X3, X4, X1, X2)
	STEP256(4, X12, X9, X10, X7, X8)
	STEP256(5, X3, X4, X5, X1, X2)
	STEP256(5, X9, X10, X11, X7, X8)
	STEP256(6, X4, X5, X6, X1, X2)
	STEP256(6, X10, X11, X12, X7, X8)
	STEP256(7, X5, X6, X3, X1, X2)
	STEP256(7, X11, X12, X9, X7, X8)
	STEP256(8, X6, X3, X4, X1, X2)
	STEP256(8, X12, X9, X10, X7, X8)
	STEP256(9, X3, X4, X5, X1, X2)
	STEP256(9, X9, X10, X11, X7, X8)
	STEP256(10, X4, X5, X6, X1, X2)
	STEP256(10, X10, X11, X12, X7, X8)
	STEP256(11, X5, X6, X3, X1, X2)
	STEP256(11, X11, X12, X9, X7, X8)
	STEP256(12, X6, X3, X4, X1, X2)
	STEP256(12, X12, X9, X10, X7, X8)

	ROUNDS256(13, X4, X1, X2)
	ROUNDS256(13, X10, X7, X8)
	WORDS256(X3, X4, X5)
	WORDS256(X9, X10, X11)
	ROUNDS256(14, X5, X1, X2)
	ROUNDS256(14, X11, X7, X8)
	WORDS256(X4, X5, X6)
	WORDS256(X10, X11, X12)
	ROUNDS256(15, X6, X1, X2)
	ROUNDS256(15, X12, X7, X8)

	MOVOU 0(SP), X3
	MOVOU 16(SP), X4
	MOVOU 32(SP), X9
	MOVOU 48(SP), X10
	PADDD X3, X1
	PADDD X4, X2
	PADDD X9, X7
	PADDD X10, X8
	ADDQ  $64, SI
	ADDQ  $64, DI
	DECQ  DX
	JNZ   block256

	MOVOU all<>(SB), X13
	WRITE256(R8, X1, X2)
	WRITE256(R9, X7, X8)
	RET

// Four rounds of the kind k with the words w. The highest word of a is the A of four rounds before, of which their E comes; b keeps this one's.
#define ROUNDS1(k, w, abcd, a, b) \
	SHA1NEXTE w, a; \
	MOVO      abcd, b; \
	SHA1RNDS4 $k, a, abcd

// The words after w become ready, and those after them by another step: u and v are those before w.
#define STEP1(k, u, v, w, next, abcd, a, b) \
	ROUNDS1(k, w, abcd, a, b); \
	SHA1MSG2 w, next; \
	SHA1MSG1 w, v; \
	PXOR     w, u

// func sha1Pair(s1, s2 *Sum, p1, p2 *byte, blocks int)
TEXT ·sha1Pair(SB), NOSPLIT, $64-40
	MOVQ   s1+0(FP), R8
	MOVQ   s2+8(FP), R9
	MOVQ   p1+16(FP), SI
	MOVQ   p2+24(FP), DI
	MOVQ   blocks+32(FP), DX
	MOVOU  all<>(SB), X14
	MOVOU  (R8), X0
	MOVOU  16(R8), X1
	MOVOU  (R9), X7
	MOVOU  16(R9), X8
	PSHUFB X14, X0
	PSHUFB X14, X1
	PSHUFB X14, X7
	PSHUFB X14, X8

block1:
	MOVOU X0, 0(SP)
	MOVOU X1, 16(SP)
	MOVOU X7, 32(SP)
	MOVOU X8, 48(SP)

	LOAD(0, SI, X3)
	LOAD(0, DI, X10)
	PADDD X3, X1
	PADDD X10, X8
	MOVO X0, X2
	MOVO X7, X9
	SHA1RNDS4 $0, X1, X0
	SHA1RNDS4 $0, X8, X7
	LOAD(1, SI, X4)
	LOAD(1, DI, X11)
	ROUNDS1(0, X4, X0, X2, X1)
	ROUNDS1(0, X11, X7, X9, X8)
	SHA1MSG1 X4, X3
	SHA1MSG1 X11, X10
	LOAD(2, SI, X5)
	LOAD(2, DI, X12)
	ROUNDS1(0, X5, X0, X1, X2)
	ROUNDS1(0, X12, X7, X8, X9)
	SHA1MSG1 X5, X4
	SHA1MSG1 X12, X11
	PXOR X5, X3
	PXOR X12, X10

	LOAD(3, SI, X6)
	LOAD(3, DI, X13)
	STEP1(0, X4, X5, X6, X3, X0, X2, X1)
	STEP1(0, X11, X12, X13, X10, X7, X9, X8)
	STEP1(0, X5, X6, X3, X4, X0, X1, X2)
	STEP1(0, X12, X13, X10, X11, X7, X8, X9)
	STEP1(1, X6, X3, X4, X5, X0, X2, X1)
	STEP1(1, X13, X10, X11, X12, X7, X9, X8)
	STEP1(1, X3, X4, X5, X6, X0, X1, X2)
	STEP1(1, X10, X11, X12, X13, X7, X8, X9)
	STEP1(1, X4, X5, X6, X3, X0, X2, X1)
	STEP1(1, X11, X12, X13, X10, X7, X9, X8)
	STEP1(1, X5, X6, X3, X4, X0, X1, X2)
	STEP1(1, X12, X13, X10, X11, X7, X8, X9)
	STEP1(1, X6, X3, X4, X5, X0, X2, X1)
	STEP1(1, X13, X10, X11, X12, X7, X9, X8)
	STEP1(2, X3, X4, X5, X6, X0, X1, X2)
	STEP1(2, X10, X11, X12, X13, X7, X8, X9)
	STEP1(2, X4, X5, X6, X3, X0, X2, X1)
	STEP1(2, X11, X12, X13, X10, X7, X9, X8)
	STEP1(2, X5, X6, X3, X4, X0, X1, X2)
	STEP1(2, X12, X13, X10, X11, X7, X8, X9)
	STEP1(2, X6, X3, X4, X5, X0, X2, X1)
	STEP1(2, X13, X10, X11, X12, X7, X9, X8)
	STEP1(2, X3, X4, X5, X6, X0, X1, X2)
	STEP1(2, X10, X11, X12, X13, X7, X8, X9)
	STEP1(3, X4, X5, X6, X3, X0, X2, X1)
	STEP1(3, X11, X12, X13, X10, X7, X9, X8)
	STEP1(3, X5, X6, X3, X4, X0, X1, X2)
	STEP1(3, X12, X13, X10, X11, X7, X8, X9)

	ROUNDS1(3, X4, X0, X2, X1)
	ROUNDS1(3, X11, X7, X9, X8)
	SHA1MSG2 X4, X5
	SHA1MSG2 X11, X12
	PXOR X4, X6
	PXOR X11, X13
	ROUNDS1(3, X5, X0, X1, X2)
	ROUNDS1(3, X12, X7, X8, X9)
	SHA1MSG2 X5, X6
	SHA1MSG2 X12, X13
	ROUNDS1(3, X6, X0, X2, X1)
	ROUNDS1(3, X13, X7, X9, X8)

	MOVOU     0(SP), X3
	MOVOU     16(SP), X4
	MOVOU     32(SP), X10
	MOVOU     48(SP), X11
	PADDD     X3, X0
	SHA1NEXTE X4, X1
	PADDD     X10, X7
	SHA1NEXTE X11, X8
	ADDQ      $64, SI
	ADDQ      $64, DI
	DECQ      DX
	JNZ       block1

	PSHUFB X14, X0
	PSHUFB X14, X1
	PSHUFB X14, X7
	PSHUFB X14, X8
	MOVOU  X0, (R8)
	MOVOU  X1, 16(R8)
	MOVOU  X7, (R9)
	MOVOU  X8, 16(R9)
	RET
