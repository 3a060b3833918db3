"""Kernels in Triton, compiled to PTX without a GPU: only up to the `ptx` stage, which LLVM makes.

usage: triton_kernels.py FOLDER
"""

import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    v = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * n + i, v / tl.sum(v, axis=0), mask=i < n)


@triton.jit
def histogram(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.atomic_add(out + (v * 16).to(tl.int32), 1, mask=i < n)


@triton.jit
def scan(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, tl.cumsum(v, axis=0), mask=i < n)


KERNELS = [
    (add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}),
    (add, {"x": "*fp16", "y": "*bf16", "out": "*fp32", "n": "i32"}),
    (softmax, {"x": "*fp32", "out": "*fp32", "n": "i32"}),
    (histogram, {"x": "*fp32", "out": "*i32", "n": "i32"}),
    (scan, {"x": "*fp32", "out": "*fp32", "n": "i32"}),
]


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for number, (kernel, signature) in enumerate(KERNELS):
        for sm in (80, 90):
            target = GPUTarget("cuda", sm, 32)
            # The stage after `ptx` calls ptxas: the text goes through unchanged instead.
            backend_class = type(make_backend(target))
            stages_of = backend_class.add_stages

            def add_stages(self, stages, *args, stages_of=stages_of):
                stages_of(self, stages, *args)
                stages["cubin"] = lambda text, _: text.encode()

            backend_class.add_stages = add_stages
            try:
                source = ASTSource(
                    fn=kernel,
                    signature={**signature, "BLOCK": "constexpr"},
                    constexprs={"BLOCK": 1024},
                )
                compiled = triton.compile(source, target=target, options={"num_warps": 4})
            finally:
                backend_class.add_stages = stages_of
            text = compiled.asm["ptx"]
            name = f"{kernel.__name__}_{number}_sm{sm}.ptx"
            (folder / name).write_text(text)


main(pathlib.Path(sys.argv[1]))
