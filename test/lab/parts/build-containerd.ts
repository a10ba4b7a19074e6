import { fileURLToPath } from 'node:url'
import { type GoPrograms, versionOf } from './go-programs.ts'

/** containerd itself, from its Go module, and what holds the namespaces of a pod. */
export const containerdPrograms: GoPrograms<'containerd' | 'containerd-shim-runc-v2' | 'ctr' | 'pause'> = {
  product: 'Containerd',
  folder: fileURLToPath(new URL('./containerd', import.meta.url)),
  programs: ['containerd', 'containerd-shim-runc-v2', 'ctr', 'pause'],
  packages: {
    containerd: 'github.com/containerd/containerd/v2/cmd/containerd',
    'containerd-shim-runc-v2': 'github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2',
    ctr: 'github.com/containerd/containerd/v2/cmd/ctr',
  },
  module: 'github.com/containerd/containerd/v2',
  estimate: 'the first time takes 1 to 6 minutes on two cores and about 1 GB of disk; with a warm Go cache seconds',
  gigabytes: 1,
  // Layers are laid over each other by the kernel; what else containerd can do needs devices.
  environment: () => Promise.resolve({ GOFLAGS: '-tags=no_btrfs,no_zfs,no_devmapper,no_aufs' }),
}

export const containerdVersion = versionOf(containerdPrograms)
