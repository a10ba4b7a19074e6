import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { createHttpKubeApi, type HttpKubeApi } from '@cofferdam/kubernetes/client/http-kube-api.ts'
import { loadKubeconfig } from '@cofferdam/kubernetes/client/load-kubeconfig.ts'
import { realRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import type { KubernetesParts } from '../parts/parts.ts'
import { type Daemon, startDaemon } from '../processes/daemon.ts'
import { freePorts } from '../processes/free-port.ts'
import type { Journal } from '../processes/journal.ts'
import type { LabFolder } from '../processes/lab-folder.ts'
import { auditPolicy, parseAudit } from './audit.ts'
import type { ControlPlane, PlaneDaemon } from './control-plane.ts'
import { type OtherUser, writeCredentials } from './credentials.ts'
import {
  apiserverCommand,
  controllerManagerCommand,
  controllersForRealNodes,
  etcdCommand,
  type Ports,
  schedulerCommand,
  schedulerConfig,
} from './daemon-commands.ts'
import { waitUntilReady } from './wait-until-ready.ts'
import { writeKubeconfig } from './write-kubeconfig.ts'

export interface ControlPlaneOptions {
  readonly parts: KubernetesParts
  readonly folder: LabFolder
  readonly journal: Journal
  /** What the controller manager runs; absent: all that the lab needs. Without `serviceaccount-controller` it never gets ready. */
  readonly controllers?: readonly string[]
  /** For containers: the address under which they reach the API server, and as whom the programs of nodes speak to it. */
  readonly forRealNodes?: { readonly address: string; readonly users: readonly OtherUser[] }
  /** Gives the start up; what was started by then is stopped again. */
  readonly signal?: AbortSignal
}

type Closer = () => Promise<void>

const programOf: Readonly<Record<PlaneDaemon, string>> = {
  etcd: 'etcd',
  apiserver: 'kube-apiserver',
  controllerManager: 'kube-controller-manager',
  scheduler: 'kube-scheduler',
}

const serviceAccounts: ResourceType<KubeObject> = {
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
}
const tokenLifeSeconds = 24 * 3600

const attempts = 3

/** Starts etcd, API server, controller manager and scheduler, and resolves when all of them are ready. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  for (let attempt = 1; ; attempt += 1) {
    const open: Closer[] = []
    try {
      return await startAll(options, open)
    } catch (error) {
      const { message } = error as Error
      options.journal.tell('control plane', `did not start: ${message}`)
      await closeAll(open)
      // Somebody else took one of the ports between our look and the daemon's start.
      if (attempt === attempts || !message.includes('address already in use')) throw error
    }
  }
}

async function startAll(options: ControlPlaneOptions, open: Closer[]): Promise<ControlPlane> {
  const { parts, folder, journal, forRealNodes, signal } = options
  const began = performance.now()
  const inFolder = (name: string) => join(folder.path, 'control-plane', name)
  const daemons: Partial<Record<PlaneDaemon, Daemon>> = {}
  const commands = new Map<PlaneDaemon, readonly [string, ...string[]]>()
  let isClosed = false
  const launch = (key: PlaneDaemon): Daemon => {
    const name = programOf[key]
    const command = commands.get(key) as readonly [string, ...string[]]
    const daemon = startDaemon({ name, command, logFile: join(folder.logs, `${name}.log`), journal })
    daemons[key] = daemon
    return daemon
  }
  const start = (key: PlaneDaemon, command: readonly [string, ...string[]]): Daemon => {
    signal?.throwIfAborted()
    commands.set(key, command)
    // Nothing is kept, so nobody is given time to end well.
    open.push(async () => {
      isClosed = true
      await daemons[key]?.stop({ graceMs: 0 })
    })
    return launch(key)
  }
  signal?.throwIfAborted()
  await rm(inFolder(''), { recursive: true, force: true })
  await mkdir(inFolder('etcd'), { recursive: true, mode: 0o700 })
  const ports = await choosePorts()
  const etcd = start('etcd', etcdCommand(parts, ports, inFolder('etcd')))
  const credentials = await writeCredentials(inFolder('pki'), forRealNodes?.users)
  const { authority, tokens } = credentials
  const server = `https://127.0.0.1:${ports.apiserver}`
  const kubeconfigFor = (name: string, token: string, namespace?: string, viaPort?: number) =>
    writeKubeconfig({
      path: inFolder(`${name}.kubeconfig`),
      server: viaPort === undefined ? server : `https://127.0.0.1:${viaPort}`,
      authority: authority.certificatePem,
      token,
      ...(namespace === undefined ? {} : { namespace }),
    })
  const kubeconfig = await kubeconfigFor('admin', tokens.admin)
  const ofControllerManager = await kubeconfigFor('kube-controller-manager', tokens.controllerManager)
  const ofScheduler = await kubeconfigFor('kube-scheduler', tokens.scheduler)
  const config = inFolder('kube-scheduler.json')
  await writeFile(config, JSON.stringify(schedulerConfig(ofScheduler)))
  const audit = { policy: inFolder('audit-policy.json'), log: join(resolve(folder.logs), 'audit.log') }
  await writeFile(audit.policy, JSON.stringify(auditPolicy))
  await waitUntilReady({ daemon: etcd, url: `http://127.0.0.1:${ports.etcd}/health`, signal })

  const secure = { authority: authority.certificatePem, signal }
  const apiserver = start(
    'apiserver',
    apiserverCommand(parts, ports, credentials, { audit, address: forRealNodes?.address }),
  )
  await waitUntilReady({ daemon: apiserver, url: `${server}/readyz`, token: tokens.admin, ...secure })
  journal.tell('control plane', `API server ready after ${secondsSince(began)}`)

  const controllers = options.controllers ?? (forRealNodes && controllersForRealNodes)
  const controllerManager = start(
    'controllerManager',
    controllerManagerCommand(parts, ports, credentials, {
      kubeconfig: ofControllerManager,
      ...(controllers === undefined ? {} : { controllers }),
    }),
  )
  const scheduler = start('scheduler', schedulerCommand(parts, ports, credentials, { kubeconfig: ofScheduler, config }))
  const healthOf = (port: number) => `https://127.0.0.1:${port}/healthz`
  await Promise.all([
    waitUntilReady({ daemon: controllerManager, url: healthOf(ports.controllerManager), ...secure }),
    waitUntilReady({ daemon: scheduler, url: healthOf(ports.scheduler), ...secure }),
  ])
  const api = createHttpKubeApi({
    config: await loadKubeconfig({ path: kubeconfig, env: {} }),
    clock: realClock,
    random: realRandom,
    userAgent: 'lab',
  })
  open.push(() => api.close())
  await waitForControllers(api, controllerManager, signal)
  journal.tell('control plane', `ready after ${secondsSince(began)}`)

  return {
    server,
    kubeconfig,
    api,
    kubectl: parts.kubectl,
    daemons: daemons as Record<PlaneDaemon, Daemon>,
    revive(key) {
      if (!isClosed && daemons[key]?.isRunning() === false) launch(key)
    },
    ca: { certificate: authority.certificatePem, key: authority.privateKeyPem },
    async kubeconfigOf(account, viaPort) {
      const answer = await api.createSubresource(serviceAccounts, account, 'token', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: tokenLifeSeconds },
      })
      const { token } = answer['status'] as { readonly token: string }
      return kubeconfigFor(`${account.namespace}.${account.name}`, token, account.namespace, viaPort)
    },
    kubeconfigFor(user) {
      const token = credentials.tokensOfOthers.get(user)
      if (token === undefined) throw new Error(`there is no user ${user} here`)
      return kubeconfigFor(user.replaceAll(':', '.'), token)
    },
    writes: async () => parseAudit(await readFile(audit.log, 'utf8')),
    close: () => closeAll(open),
  }
}

/** The controller manager calls itself healthy before its controllers work; the account they make for pods shows that they do. */
async function waitForControllers(api: HttpKubeApi, daemon: Daemon, signal?: AbortSignal): Promise<void> {
  for (;;) {
    signal?.throwIfAborted()
    if (!daemon.isRunning())
      throw new Error(`${daemon.name} ended before its controllers worked, see ${daemon.logFile}`)
    try {
      await api.get(serviceAccounts, { namespace: 'default', name: 'default' })
      return
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
      await pause(25)
    }
  }
}

async function choosePorts(): Promise<Ports> {
  const [etcd = 0, etcdPeer = 0, apiserver = 0, controllerManager = 0, scheduler = 0] = await freePorts(5)
  return { etcd, etcdPeer, apiserver, controllerManager, scheduler }
}

/** Last come, first gone, so that none is left without what it talks to. */
async function closeAll(open: readonly Closer[]): Promise<void> {
  for (const close of open.toReversed()) await close()
}

function secondsSince(began: number): string {
  return `${((performance.now() - began) / 1_000).toFixed(1)} s`
}
