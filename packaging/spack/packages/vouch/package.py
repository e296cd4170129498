# Copyright of the Vouch authors. SPDX-License-Identifier: Apache-2.0
from spack.package import *


class Vouch(CMakePackage, CudaPackage):
    """Linear systems solved fast, on CPUs and NVIDIA GPUs, with an answer that is checked: residuals in twice
    the working precision, and on request a proved bound of the error."""

    license("Apache-2.0")

    # spack dev-build vouch@main in the checkout; a published version adds url and checksum.
    version("main")

    variant("shared", default=False, description="Build libvouch.so in place of libvouch.a")
    variant("tool", default=True, description="Build the command-line tool")
    variant("mpfr", default=True, description="Elementary functions of intervals")
    variant("mpi", default=False, description="Rows shared by ranks: the module beside the tool", when="+tool")
    variant("suite-sparse", default=False, description="Sparse factorisations by CHOLMOD, UMFPACK and KLU")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("zlib-api")
    depends_on("mpfr@4.2:", when="+mpfr")
    depends_on("suite-sparse", when="+suite-sparse")
    depends_on("cuda@13:", when="+cuda")
    depends_on("mpi", when="+mpi")
    # Opened at run time by its name, which the run path of what links it leads to.
    depends_on("openblas threads=pthreads", type=("link", "run"))
    with when("+tool"):
        depends_on("cli11")
        depends_on("fmt@9:")
        depends_on("nlohmann-json@3.11:")

    conflicts("%gcc@:11")
    conflicts("%clang@:13")
    requires("target=x86_64:", msg="Vouch is tested on x86-64 alone")

    def cmake_args(self):
        args = [
            self.define("VOUCH_TESTS", False),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("VOUCH_TOOL", "tool"),
            self.define_from_variant("VOUCH_MPFR", "mpfr"),
            self.define_from_variant("VOUCH_CUDA", "cuda"),
            self.define("VOUCH_MPI", self.spec.satisfies("+mpi")),
            self.define("VOUCH_PETSC", False),
        ]
        if self.spec.satisfies("+cuda") and self.spec.variants["cuda_arch"].value[0] != "none":
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(self.spec.variants["cuda_arch"].value)))
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def ask_the_tool(self):
        if self.spec.satisfies("+tool"):
            Executable(self.prefix.bin.vouch)("devices")
