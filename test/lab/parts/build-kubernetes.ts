import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { askProgram } from './ask-program.ts'
import type { Say } from './parts.ts'
import { runStep, StepError, setupLog } from './run-step.ts'

const moduleFolder = fileURLToPath(new URL('./kubernetes', import.meta.url))
const goMod = readFileSync(join(moduleFolder, 'go.mod'), 'utf8')

export const builtPackages = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
} as const

export type BuiltProgram = keyof typeof builtPackages
export const builtPrograms = Object.keys(builtPackages) as readonly BuiltProgram[]

/** `1.36.4`: the version that kubernetes/go.mod asks for. */
export const kubernetesVersion = matchOf(goMod, /^require k8s\.io\/kubernetes v(\S+)/m)
const oldestGo = matchOf(goMod, /^go (\S+)/m)

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

/**
 * Builds programs of Kubernetes from Go modules into the folder.
 *
 * Guarantees: a program is in the folder whole or not at all. Assumes: no other build for this folder is under way.
 */
export async function buildKubernetes(programs: readonly BuiltProgram[], folder: string, say: Say): Promise<void> {
  await requireGo()
  await sweep(folder)
  await mkdir(folder, { recursive: true })
  const log = setupLog('build-kubernetes')
  await rm(log, { force: true })
  const began = performance.now()
  say(`building ${programs.join(', ')} of Kubernetes ${kubernetesVersion} with Go; its output goes to ${log}`)
  say('the first time takes 7 to 10 minutes on two cores and about 5 GB of disk; with a warm Go cache a minute')
  await warnWhenTight(say)
  const work = await mkdtemp(`${folder}.building-`)
  try {
    const kube = programs.filter((program) => program !== 'etcd').map((program) => builtPackages[program])
    if (kube.length > 0) await build(kube, { into: `${work}/`, flags: versionFlags(kubernetesVersion), log })
    if (programs.includes('etcd')) await build([builtPackages.etcd], { into: join(work, 'etcd'), flags: '-s -w', log })
    for (const program of programs) await rename(join(work, program), join(folder, program))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  say(`built Kubernetes ${kubernetesVersion} in ${Math.ceil((performance.now() - began) / 1_000)} s; kept in ${folder}`)
}

interface BuildTarget {
  readonly into: string
  readonly flags: string
  readonly log: string
}

async function build(paths: readonly string[], { into, flags, log }: BuildTarget): Promise<void> {
  const options = ['-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags', flags, '-o', into]
  try {
    await runStep({
      task: 'building Kubernetes',
      command: ['go', 'build', ...options, ...paths],
      log,
      folder: moduleFolder,
      environment: goEnvironment,
    })
  } catch (error) {
    if (!(error instanceof StepError) || !error.tail.includes('no space left on device')) throw error
    const wanted = 'free about 5 GB, or set GOCACHE, GOMODCACHE, GOTMPDIR and XDG_CACHE_HOME to folders with room'
    throw new Error(`there is no room to build Kubernetes: ${wanted}`, { cause: error })
  }
}

/** The Go that is here builds or refuses: it never fetches another one. */
const goEnvironment = { CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOWORK: 'off' }

async function requireGo(): Promise<void> {
  const answer = await askProgram(['go', 'env', 'GOVERSION'], { environment: goEnvironment })
  const remedy = `install Go ${oldestGo} or newer, or set KUBEBUILDER_ASSETS to a folder with ${builtPrograms.join(', ')}`
  if (answer === undefined) throw new Error(`building Kubernetes needs Go, and there is no go in PATH: ${remedy}`)
  if (!isAtLeast(answer, oldestGo)) {
    throw new Error(`Kubernetes ${kubernetesVersion} cannot be built with ${answer}: ${remedy}`)
  }
}

/** Compares `go1.26.8` with `1.26.0`. A Go that gives no number, such as a development one, is let through. */
export function isAtLeast(answer: string, oldest: string): boolean {
  const found = /^go(\d+)\.(\d+)(?:\.(\d+))?/.exec(answer)
  if (found === null) return true
  const numbers = found.slice(1).map((part) => Number(part ?? 0))
  for (const [index, wanted] of oldest.split('.').map(Number).entries()) {
    const number = numbers[index] ?? 0
    if (number !== wanted) return number > wanted
  }
  return true
}

async function warnWhenTight(say: Say): Promise<void> {
  const cache = await askProgram(['go', 'env', 'GOCACHE'], { environment: goEnvironment })
  const room = cache === undefined ? undefined : await statfs(cache).catch(() => undefined)
  if (room === undefined) return
  const free = (room.bavail * room.bsize) / 1e9
  if (free < 5)
    say(`only ${free.toFixed(1)} GB are free at ${cache}; if that is too little, set GOCACHE to another folder`)
}

/** Clears away what killed builds left. */
async function sweep(folder: string): Promise<void> {
  const names = await readdir(dirname(folder)).catch(() => [])
  for (const name of names) {
    if (name.startsWith(`${basename(folder)}.building-`)) await rm(join(dirname(folder), name), { recursive: true })
  }
}

function matchOf(text: string, pattern: RegExp): string {
  const value = pattern.exec(text)?.[1]
  if (value === undefined) throw new Error(`kubernetes/go.mod has no line like ${pattern}`)
  return value
}
