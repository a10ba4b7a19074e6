import { hostname } from 'node:os'
import { defaultRookNamespace } from '@cofferdam/kubernetes/api/kinds/rook-operator.ts'
import { createHttpKubeApi } from '@cofferdam/kubernetes/client/http-kube-api.ts'
import { isInCluster } from '@cofferdam/kubernetes/client/in-cluster.ts'
import { loadKubeconfig } from '@cofferdam/kubernetes/client/load-kubeconfig.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { randomSuffix, realRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { type ControllerName, controllerNames } from '../../operator/controller-names.ts'
import { startHealthServer } from '../../operator/health-server.ts'
import { createLog, type LogLevel } from '../../operator/log.ts'
import { createMetrics } from '../../operator/metrics.ts'
import { startOperator } from '../../operator/operator.ts'
import type { CliCommand } from '../command.ts'
import { parsePort } from '../parse-number.ts'
import { type CephFlags, openCephLink } from './ceph-link.ts'
import { configureDashboard, type DashboardFlags, dashboardPlace } from './dashboard-flags.ts'
import { configureDrainLock, type DrainLockFlags, drainLockOptions } from './drain-lock-flags.ts'
import { limitHeapGrowth } from './heap-growth.ts'
import { configureKured, type KuredFlag, kuredOptions } from './kured-flag.ts'
import { keepServing } from './serve-dashboard.ts'
import { configureTrust, type TrustFlags, trustOf } from './trust-flags.ts'

interface OperatorFlags extends CephFlags, DashboardFlags, DrainLockFlags, KuredFlag, TrustFlags {
  readonly controllers: readonly ControllerName[]
  readonly dryRun?: boolean
  readonly leaderElect: boolean
  readonly leaseNamespace: string
  readonly rookNamespaces: readonly string[]
  readonly healthHost: string
  readonly healthPort: number
  readonly logLevel: LogLevel
}

export function createOperatorCommand({
  pageDirectory,
}: {
  /** Where the built page is. */
  readonly pageDirectory: string
}): CliCommand<OperatorFlags, undefined> {
  return {
    name: 'operator',
    summary: 'run the controllers against a cluster',
    description:
      'Runs the controllers against the cluster of a kubeconfig, or of the pod it runs in. Several may run: one leads, the others are on standby; all of them serve the eviction guard.',
    examples: [
      { line: 'cofferdam operator --kubeconfig .cofferdam/kubeconfig', says: 'run everything on the demo cluster' },
      {
        line: 'cofferdam operator --ceph-clusters rook-ceph/rook-ceph',
        says: 'act on this CephCluster; without the flag on none',
      },
      { line: 'cofferdam operator --dry-run', says: 'show what would be written, write nothing' },
      { line: 'cofferdam operator --controllers drain-detection', says: 'run some controllers only' },
      {
        line: 'cofferdam operator --guard-url https://10.0.0.7:7444',
        says: 'be an eviction guard outside the cluster',
      },
    ],

    configure(command: Command) {
      command
        .option('--controllers <names>', `which to run, with commas: ${controllerNames.join(', ')}`, parseControllers, [
          ...controllerNames,
        ])
        .option('--dry-run', 'check every write on the server, and store none')
        .option('--no-leader-elect', 'no leader election; for a single process only')
        .option('--lease-namespace <name>', 'where the leader lease is', operatorAccount.namespace)
        .option(
          '--ceph-conf <file>',
          'ask the monitors of this ceph.conf, not the toolbox pod; for one named CephCluster',
        )
        .option('--ceph-name <user>', 'as whom to ask them, as in client.admin')
        .option('--ceph-keyring <file>', 'with the key of this keyring')
        .option(
          '--rook-namespaces <names>',
          "where Rook's own operator may run, with commas, beside the namespaces of its clusters",
          parseNamespaces,
          [defaultRookNamespace],
        )
        .option('--health-host <address>', 'where /healthz, /readyz and /metrics are served', '127.0.0.1')
        .option('--health-port <number>', 'on which port; 0 takes any free one', parsePort, 7480)
        .addOption(
          new Option('--log-level <level>', 'how much to log')
            .choices(['debug', 'info', 'warn', 'error'])
            .default('info'),
        )
      configureTrust(command)
      configureKured(command)
      configureDrainLock(command)
      configureDashboard(command)
    },

    async run({ flags, signal }) {
      const trust = trustOf(flags)
      const page = dashboardPlace(flags)
      const log = createLog(flags.logLevel)
      const metrics = createMetrics()
      const connection = await loadKubeconfig({
        env: process.env,
        ...(flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig }),
        ...(flags.context === undefined ? {} : { context: flags.context }),
      })
      const api = createHttpKubeApi({
        config: connection,
        clock: realClock,
        random: realRandom,
        userAgent: 'cofferdam-operator',
      })
      const ceph = openCephLink({
        flags,
        api,
        connection,
        environment: process.env,
        clock: realClock,
        random: realRandom,
        log,
      })
      const identity = `${hostname()}_${randomSuffix(realRandom, 8)}`
      const operator = startOperator({
        api,
        clock: realClock,
        random: realRandom,
        log,
        metrics,
        ...kuredOptions(flags, flags.controllers),
        dryRun: flags.dryRun === true,
        ceph: ceph.of,
        trust,
        parsers: ceph.parsers,
        rookNamespaces: flags.rookNamespaces,
        ...drainLockOptions(flags, { isInPod: flags.kubeconfig === undefined && isInCluster(process.env) }),
        ...(flags.leaderElect
          ? { lease: { namespace: flags.leaseNamespace, name: operatorAccount.name, identity } }
          : {}),
      })
      const endLimit = limitHeapGrowth(realClock, operator.hasRead)
      try {
        const { healthHost: host, healthPort: port } = flags
        const server = await startHealthServer({ host, port, checks: operator.health, registry: metrics.registry })
        log.info({ server: connection.server, source: connection.source, healthPort: server.port }, 'operator started')
        const dashboard =
          page &&
          keepServing({
            place: page,
            api,
            clock: realClock,
            random: realRandom,
            log,
            pageDirectory,
            cluster: flags.context ?? connection.server,
            leaseNamespace: flags.leaseNamespace,
          })
        try {
          const stop = () => void operator.stop()
          if (signal.aborted) stop()
          signal.addEventListener('abort', stop, { once: true })
          const how = await operator.ended
          if (how === 'restored') {
            throw new CofferdamError(
              'LEAD_LOST',
              'the API server was restored from a backup, so nothing that this process has read is sure to be true',
              { hint: 'Start it again: it reads everything before it acts.' },
            )
          }
          if (how === 'lost-lead') {
            throw new CofferdamError(
              'LEAD_LOST',
              'another operator leads now, or the lease could not be renewed in time',
              {
                hint: 'Start it again: it will stand by until it may lead.',
              },
            )
          }
        } finally {
          await dashboard?.close()
          await server.close()
        }
      } finally {
        endLimit()
        await operator.stop()
        await ceph.close()
        await api.close()
      }
      return undefined
    },

    render: () => '',
  }
}

function parseNamespaces(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  for (const name of names) {
    if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
      throw new InvalidArgumentError(`"${name}" is no name of a namespace.`)
    }
  }
  return [...new Set(names)]
}

function parseControllers(text: string): ControllerName[] {
  const names = text.split(',').map((name) => name.trim())
  for (const name of names) {
    if (!(controllerNames as readonly string[]).includes(name)) {
      throw new InvalidArgumentError(`there is no controller "${name}"; there are: ${controllerNames.join(', ')}.`)
    }
  }
  return [...new Set(names)] as ControllerName[]
}
