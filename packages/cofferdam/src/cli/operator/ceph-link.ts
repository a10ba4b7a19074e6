import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { ClusterConnection } from '@cofferdam/kubernetes/client/cluster-connection.ts'
import { createPodExec, type PodExec } from '@cofferdam/kubernetes/client/exec-in-pod.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { CephAccess } from '../../ceph/ceph-access.ts'
import type { CephCommands } from '../../ceph/ceph-commands.ts'
import { createCliCommands } from '../../ceph/cli-commands.ts'
import { type CephParsers, createPgParser } from '../../ceph/create-pg-parser.ts'
import { createFallbackCommands } from '../../ceph/fallback-commands.ts'
import { createRadosCommands } from '../../ceph/rados-commands.ts'
import { createToolboxCommands } from '../../ceph/toolbox-commands.ts'
import { chooseToolbox } from './choose-toolbox.ts'

export interface CephFlags {
  readonly cephConf?: string
  readonly cephName?: string
  readonly cephKeyring?: string
}

export interface CephLink {
  of(cluster: { readonly namespace: string; readonly name: string }): CephCommands
  readonly parsers: Pick<CephParsers, 'parse' | 'parseOsdDump'>
  close(): Promise<void>
}

interface CephLinkOptions {
  readonly flags: CephFlags
  readonly api: Pick<KubeApi, 'list'>
  readonly connection: ClusterConnection
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

/** The ways to Ceph: straight to its monitors where the flags say how, else through the toolbox pod of each cluster. */
export function openCephLink(options: CephLinkOptions): CephLink {
  const { flags } = options
  const access: CephAccess = {
    ...(flags.cephConf === undefined ? {} : { conf: flags.cephConf }),
    ...(flags.cephName === undefined ? {} : { name: flags.cephName }),
    ...(flags.cephKeyring === undefined ? {} : { keyring: flags.cephKeyring }),
  }
  const link = Object.keys(access).length > 0 ? linkToMonitors(access, options) : linkToToolboxes(options)
  const { close: closeParsers, ...parsers } = createPgParser()
  return {
    of: link.of,
    parsers,
    async close() {
      await Promise.all([link.close(), closeParsers()])
    },
  }
}

function linkToMonitors(access: CephAccess, { clock, random, environment, log }: CephLinkOptions) {
  const rados = createRadosCommands({ clock, random, environment, access })
  const commands = createFallbackCommands(
    [
      { name: 'python3-rados', commands: rados },
      { name: 'the ceph command line', commands: createCliCommands({ clock, environment, access }) },
    ],
    { report: (change) => log.info({ ...change }, 'a client of Ceph is not installed, the next is tried') },
  )
  return { of: () => commands, close: () => rados.close() }
}

function linkToToolboxes({ api, connection, clock }: CephLinkOptions) {
  const toolboxes = new Map<string, CephCommands>()
  let exec: PodExec | undefined
  return {
    of({ namespace }: { readonly namespace: string }) {
      let commands = toolboxes.get(namespace)
      if (commands === undefined) {
        commands = createToolboxCommands({
          exec: (...request) => {
            exec ??= createPodExec({ connection, clock })
            return exec.exec(...request)
          },
          async findPod(signal) {
            const { items } = await api.list(pods, { namespace, labelSelector: 'app=rook-ceph-tools', signal })
            const pod = chooseToolbox(items)
            return pod === undefined ? undefined : { namespace, pod: pod.metadata.name }
          },
          clock,
        })
        toolboxes.set(namespace, commands)
      }
      return commands
    },
    async close() {
      await exec?.close()
    },
  }
}
