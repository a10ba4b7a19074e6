import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildWithGo, lineOf } from './go-build.ts'
import type { Say } from './parts.ts'

const folder = fileURLToPath(new URL('./kubernetes', import.meta.url))
const goMod = readFileSync(join(folder, 'go.mod'), 'utf8')

export const builtPackages = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  kubelet: 'k8s.io/kubernetes/cmd/kubelet',
  'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
} as const

export type BuiltProgram = keyof typeof builtPackages
/** Of every cluster of the lab. */
export const planePrograms = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const
/** Where a node is real. */
export const nodePrograms = ['kubelet', 'kube-proxy'] as const

/** `1.36.4`: the version that kubernetes/go.mod asks for. */
export const kubernetesVersion = lineOf(goMod, /^require k8s\.io\/kubernetes v(\S+)/m)

/** Without these the server calls itself v0.0.0-master. */
export function versionFlags(version: string): string {
  const [major, minor] = version.split('.')
  const base = 'k8s.io/component-base/version'
  const values = {
    [`${base}.gitVersion`]: `v${version}`,
    [`${base}.gitMajor`]: major,
    [`${base}.gitMinor`]: minor,
    'k8s.io/client-go/pkg/version.gitVersion': `v${version}`,
  }
  return ['-s -w', ...Object.entries(values).map(([name, value]) => `-X ${name}=${value}`)].join(' ')
}

/** Builds programs of Kubernetes from Go modules into the folder; with the guarantees of buildWithGo. */
export async function buildKubernetes(programs: readonly BuiltProgram[], into: string, say: Say): Promise<void> {
  const kube = programs.filter((program) => program !== 'etcd').map((program) => builtPackages[program])
  const servers = kube.length === 0 ? [] : [{ packages: kube, flags: versionFlags(kubernetesVersion) }]
  const etcd = programs.includes('etcd') ? [{ packages: [builtPackages.etcd], flags: '-s -w', name: 'etcd' }] : []
  const build = {
    product: 'Kubernetes',
    version: kubernetesVersion,
    module: { folder, goMod },
    programs,
    steps: [...servers, ...etcd],
    estimate: 'the first time takes 7 to 10 minutes on two cores and about 5 GB of disk; with a warm Go cache a minute',
    gigabytes: 5,
    otherwise: `set KUBEBUILDER_ASSETS to a folder with ${programs.join(', ')}`,
  }
  await buildWithGo(build, into, say)
}
