import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { askProgram } from './ask-program.ts'
import {
  type BuiltProgram,
  buildKubernetes,
  kubernetesVersion,
  nodePrograms,
  planePrograms,
} from './build-kubernetes.ts'
import { cacheFolder } from './cache-folder.ts'
import { isExecutable } from './is-executable.ts'
import type { KubernetesParts, NodeParts, Say } from './parts.ts'
import { withLock } from './with-lock.ts'

const getKubectl = fileURLToPath(new URL('../../kubectl/get-kubectl.sh', import.meta.url))

/** Programs of a real Kubernetes: those of KUBEBUILDER_ASSETS, else those kept from an earlier run, else built now. */
export async function findKubernetes(say: Say): Promise<KubernetesParts> {
  const path = await findPrograms(planePrograms, say)
  const version = await versionOf(path('kube-apiserver'))
  if (version !== kubernetesVersion) {
    say(`kube-apiserver is ${version}; what KUBEBUILDER_ASSETS does not have is of ${kubernetesVersion}`)
  }
  return {
    version,
    etcd: path('etcd'),
    kubeApiserver: path('kube-apiserver'),
    kubeControllerManager: path('kube-controller-manager'),
    kubeScheduler: path('kube-scheduler'),
    kubectl: await findKubectl(say),
  }
}

/** The same of what runs on a node. */
export async function findNodePrograms(say: Say): Promise<Pick<NodeParts, 'kubelet' | 'kubeProxy'>> {
  const path = await findPrograms(nodePrograms, say)
  return { kubelet: path('kubelet'), kubeProxy: path('kube-proxy') }
}

async function findPrograms<Program extends BuiltProgram>(
  programs: readonly Program[],
  say: Say,
): Promise<(program: Program) => string> {
  const folder = cacheFolder(`kubernetes-${kubernetesVersion}`)
  const places = [process.env['KUBEBUILDER_ASSETS'], folder]
  const missing = async () => {
    const found = await locate(programs, places)
    return programs.filter((program) => !found.has(program))
  }
  if ((await missing()).length > 0) {
    const waiting = () => say('another process is building Kubernetes; waiting for it')
    await withLock(`${folder}.lock`, waiting, async () => {
      const wanted = await missing()
      if (wanted.length > 0) await buildKubernetes(wanted, folder, say)
    })
  }
  const found = await locate(programs, places)
  return (program) => {
    const place = found.get(program)
    if (place === undefined) throw new Error(`${program} was built and is not in ${folder}`)
    return place
  }
}

/** Each program's path in the first of the folders that has it as an executable. */
export async function locate<Program extends string>(
  programs: readonly Program[],
  folders: readonly (string | undefined)[],
): Promise<ReadonlyMap<Program, string>> {
  const found = new Map<Program, string>()
  for (const folder of folders) {
    if (folder === undefined || folder === '') continue
    for (const program of programs) {
      const path = resolve(folder, program)
      if (!found.has(program) && (await isExecutable(path))) found.set(program, path)
    }
  }
  return found
}

async function versionOf(apiserver: string): Promise<string> {
  const answer = await askProgram([apiserver, '--version'])
  const version = /^Kubernetes v(\S+)/.exec(answer ?? '')?.[1]
  if (version === undefined) throw new Error(`${apiserver} does not run here, or does not tell its version`)
  return version
}

async function findKubectl(say: Say): Promise<string> {
  const own = (await locate(['kubectl'], [process.env['KUBEBUILDER_ASSETS']])).get('kubectl')
  if (own !== undefined) return own
  const fetching = () => say('fetching kubectl from Debian, usually for less than a minute')
  const slow = setTimeout(fetching, 1_000)
  const newest = (await askProgram(['bash', getKubectl], { timeoutMs: 600_000 }))?.split('\n').at(-1)
  clearTimeout(slow)
  if (newest === undefined || newest === '') {
    throw new Error('no kubectl can be had: install one into PATH, or set KUBEBUILDER_ASSETS to a folder that has it')
  }
  return newest
}
