import { dirname } from 'node:path'
import { containerdPrograms, containerdVersion } from './build-containerd.ts'
import { findNodePrograms } from './find-kubernetes.ts'
import { findGoPrograms } from './go-programs.ts'
import { installPackages } from './install-packages.ts'
import { isExecutable } from './is-executable.ts'
import type { NodeParts, Say } from './parts.ts'

/** What Debian's packages bring to a node, by the path of one program of each. */
const packages: Readonly<Record<string, string>> = {
  runc: '/usr/sbin/runc',
  'containernetworking-plugins': '/usr/lib/cni/bridge',
  iptables: '/usr/sbin/iptables',
  iproute2: '/bin/ip',
}

/** Everything that makes this machine a node: kubelet and kube-proxy of the lab's Kubernetes, containerd, and Debian's runc and network plugins. */
export async function findNode(say: Say): Promise<NodeParts> {
  const { kubelet, kubeProxy } = await findNodePrograms(say)
  const programs = await findGoPrograms(containerdPrograms, say)
  const missing: string[] = []
  for (const [name, program] of Object.entries(packages)) if (!(await isExecutable(program))) missing.push(name)
  if (missing.length > 0) await installPackages(missing, say)
  const { containerd, ctr, pause } = programs
  return {
    containerdVersion,
    kubelet,
    kubeProxy,
    containerd,
    ctr,
    pause,
    // containerd looks for its shim in PATH.
    programFolder: dirname(programs['containerd-shim-runc-v2']),
    networkPlugins: dirname(packages['containernetworking-plugins'] as string),
  }
}
