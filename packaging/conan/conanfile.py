# conan create packaging/conan --build=missing: the checkout that this recipe stands in.
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy

required_conan_version = ">=2.0"


class Vouch(ConanFile):
    name = "vouch"
    version = "0.1.0"
    description = "Linear systems solved fast, with an answer that is checked"
    license = "Apache-2.0"
    topics = ("linear-algebra", "sparse", "interval-arithmetic", "verified-computing")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "tool": [True, False], "with_mpfr": [True, False]}
    default_options = {"shared": False, "fPIC": True, "tool": False, "with_mpfr": True}

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for name in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "vouch/*", "cli/*", "docs/*"):
            copy(self, name, root, self.export_sources_folder)

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch != "x86_64":
            raise ConanInvalidConfiguration("vouch is tested on Linux on x86-64 alone")

    def requirements(self):
        self.requires("zlib/[>=1.2.11 <2]")
        if self.options.with_mpfr:
            self.requires("mpfr/4.2.1")
        if self.options.tool:
            self.requires("cli11/2.4.2")
            self.requires("fmt/10.2.1")
            self.requires("nlohmann_json/3.11.3")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["VOUCH_CUDA"] = False
        toolchain.cache_variables["VOUCH_MPI"] = False
        toolchain.cache_variables["VOUCH_TESTS"] = False
        toolchain.cache_variables["VOUCH_TOOL"] = bool(self.options.tool)
        toolchain.cache_variables["VOUCH_MPFR"] = bool(self.options.with_mpfr)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # The package's own vouch-config.cmake names its targets and what a static library needs.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "vouch")]
        self.cpp_info.libs = ["vouch"]
