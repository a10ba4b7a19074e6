import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { askProgram } from './ask-program.ts'
import { type BuiltProgram, buildKubernetes, builtPrograms, kubernetesVersion } from './build-kubernetes.ts'
import { cacheFolder } from './cache-folder.ts'
import { isExecutable } from './is-executable.ts'
import type { KubernetesParts, Say } from './parts.ts'
import { withLock } from './with-lock.ts'

const getKubectl = fileURLToPath(new URL('../../kubectl/get-kubectl.sh', import.meta.url))

/** Programs of a real Kubernetes: those of KUBEBUILDER_ASSETS, else those kept from an earlier run, else built now. */
export async function findKubernetes(say: Say): Promise<KubernetesParts> {
  const folder = cacheFolder(`kubernetes-${kubernetesVersion}`)
  const places = [process.env['KUBEBUILDER_ASSETS'], folder]
  let found = await locate(builtPrograms, places)
  if (missing(found).length > 0) {
    const waiting = () => say('another process is building Kubernetes; waiting for it')
    await withLock(`${folder}.lock`, waiting, async () => {
      const wanted = missing(await locate(builtPrograms, places))
      if (wanted.length > 0) await buildKubernetes(wanted, folder, say)
    })
    found = await locate(builtPrograms, places)
  }
  const path = (program: BuiltProgram): string => {
    const place = found.get(program)
    if (place === undefined) throw new Error(`${program} was built and is not in ${folder}`)
    return place
  }
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

  function missing(programs: ReadonlyMap<BuiltProgram, string>): readonly BuiltProgram[] {
    return builtPrograms.filter((program) => !programs.has(program))
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
