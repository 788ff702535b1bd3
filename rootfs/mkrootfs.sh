#!/bin/bash
# mkrootfs.sh KIND DIR: builds a root file system that holds a ROCm, with mmdebstrap. As root on Debian 12.
#   sid       ROCm 7.2.4: runtime, HIP, compilers, OpenCL, the small tools (about 1 GB)
#   trixie    Debian 13: ROCr 6.1.2, HIP 5.7.1
#   bookworm  Debian 12: ROCr 5.2.3, HIP 5.2.3
# MIRROR names the Debian archive; by default the one that apt uses.
set -euo pipefail
KIND=${1:?usage: mkrootfs.sh KIND DIR}; DIR=${2:?usage: mkrootfs.sh KIND DIR}
HERE=$(cd "$(dirname "$0")" && pwd)
MIRROR=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m1 '/debian/\{0,1\}$')}
LIST=$(mktemp); trap 'rm -f "$LIST"' EXIT
HOOK=true
case $KIND in
  sid)
    SUITE=sid
    printf 'deb %s sid main\ndeb %s experimental main\n' "$MIRROR" "$MIRROR" > "$LIST"
    HOOK="mkdir -p \"\$1\"/etc/apt/preferences.d && cp $HERE/rocm.pref \"\$1\"/etc/apt/preferences.d/"
    PKGS=libhsa-runtime64-1,libhsa-runtime-dev,libamdhip64-7,libamdhip64-dev,libhiprtc7,hipcc,hip-utils,libamd-comgr3,rocminfo,rocm-smi,amd-smi,rocm-device-libs-22,clang-22,lld-22,llvm-22,libdrm-amdgpu1,rocm-opencl-icd,clinfo,ocl-icd-opencl-dev,opencl-c-headers,gcc,python3-minimal,ca-certificates ;;
  trixie)
    SUITE=trixie; printf 'deb %s trixie main\n' "$MIRROR" > "$LIST"
    PKGS=rocminfo,hipcc,libamdhip64-dev,ca-certificates ;;
  bookworm)
    SUITE=bookworm; printf 'deb %s bookworm main\n' "$MIRROR" > "$LIST"
    PKGS=rocminfo,hipcc,libamdhip64-dev,ca-certificates ;;
  *) echo "mkrootfs.sh: no such kind: $KIND (sid, trixie, bookworm)" >&2; exit 2 ;;
esac
# The archive's Release files may be older than this machine's clock allows: dates are not checked.
mmdebstrap --quiet --mode=root --variant=apt --architectures=amd64 --format=directory \
  --keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
  --aptopt='APT::Install-Recommends "false"' \
  --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Check-Date "false"' \
  --aptopt='Acquire::Languages "none"' \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-include=/usr/share/doc/*/copyright' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --setup-hook="$HOOK" \
  --include="$PKGS" "$SUITE" "$DIR" "$LIST"
