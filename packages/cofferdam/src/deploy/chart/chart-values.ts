import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { dashboardTls } from '../dashboard-manifests.ts'
import type { ValueLeaf, ValueTree } from './values-tree.ts'

/** A capability as a chart switches it: its name, and the Roles that go with it. */
export interface ChartCapability {
  readonly name: string
  readonly summary: string
  /** As `--controllers` names them. */
  readonly controllers: readonly string[]
  /** Of controllers and of every replica. */
  readonly roles: readonly string[]
}

/** What the chart takes from the operator's Deployment as it is, and lets others replace. */
export interface WorkloadDefaults {
  readonly replicas: number
  readonly priorityClassName: string
  readonly resources: JsonObject
  readonly affinity: JsonObject
}

const flag = (says: string, isOn = false): ValueLeaf => ({ says, default: isOn, schema: { type: 'boolean' } })
const text = (says: string, given = ''): ValueLeaf => ({ says, default: given, schema: { type: 'string' } })
const list = (says: string, items: JsonObject, given: readonly string[] = []): ValueLeaf => ({
  says,
  default: given,
  schema: { type: 'array', items },
})
const anything = (says: string, given: object = {}): ValueLeaf => ({ says, default: given, schema: { type: 'object' } })
const name = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }
const clusterName = { type: 'string', pattern: '^[a-z0-9][-a-z0-9]*/[a-z0-9][-.a-z0-9]*$' }

/** `ceph-drain` as a value is called: `cephDrain`. */
export function valueName(capability: string): string {
  return capability.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Every value of the chart. */
export function chartValues(capabilities: readonly ChartCapability[], workload: WorkloadDefaults): ValueTree {
  return {
    image: {
      says: 'The image of the operator.',
      values: {
        repository: text('Where it is, with the registry.', 'cofferdam'),
        tag: text("Without it the version of the chart; with ceph.conf.secret that of the image with Ceph's client."),
        digest: text('sha256:…, in place of the tag.'),
        pullPolicy: {
          says: 'As in a pod.',
          default: 'IfNotPresent',
          schema: { enum: ['Always', 'IfNotPresent', 'Never'] },
        },
        pullSecrets: list('Names of Secrets in the namespace of the operator.', { type: 'string' }),
      },
    },
    namespace: {
      says: 'The namespace cofferdam-system.',
      values: {
        create: flag(
          'Make it a part of the release, with Pod Security labels. Only for a release that is kept in another namespace: helm makes the one of the release by itself (--create-namespace).',
        ),
      },
    },
    crds: {
      says: 'Definitions of the kinds of Cofferdam.',
      values: { install: flag('Part of the release, and upgraded with it. They stay when it is uninstalled.', true) },
    },
    capabilities: {
      says: 'What the operator does. One that is off gets no rights.',
      values: Object.fromEntries(
        capabilities.map(({ name: capability, summary }) => [valueName(capability), flag(summary, true)]),
      ),
    },
    ceph: {
      says: 'Ceph. The operator acts on the clusters that are named here, and has rights in their namespaces alone.',
      values: {
        clusters: list('NAMESPACE/NAME of the CephClusters to act on.', clusterName),
        toolbox: flag('Ask Ceph in the toolbox pod: the right to run programs in pods of these namespaces.'),
        conf: {
          says: 'Ask the monitors themselves, for one cluster.',
          values: {
            secret: text('Secret in cofferdam-system with the files ceph.conf and keyring.'),
            user: text('As whom.', 'client.cofferdam'),
          },
        },
        ownOsds: list(
          "Of these clusters, those without a Rook operator, whose OSD Deployments are Cofferdam's to write.",
          clusterName,
        ),
        pace: flag("Let Cofferdam choose the order of Rook's OSD updates."),
        growOsds: list('Of ownOsds, those whose new disks become OSDs. Needs rookImage.', clusterName),
        rookImage: text("The image that has Rook's program, of the release that made your OSDs."),
        rookNamespaces: list("Where Rook's own operator runs, if in no namespace of its clusters.", name),
      },
    },
    longhorn: {
      says: 'Longhorn.',
      values: {
        enabled: flag('Take part in its drains.'),
        namespaces: list('Where it is installed.', name, ['longhorn-system']),
      },
    },
    medik8s: {
      says: 'NodeHealthChecks of medik8s.',
      values: { enabled: flag('Keep them off nodes by Leases in medik8s-leases.') },
    },
    kured: {
      says: 'kured.',
      values: { enabled: flag('Take part in its lock, on the DaemonSet kube-system/kured.') },
    },
    admissionPolicies: {
      says: 'Admission policies for requests, locks and break-glass. Need Kubernetes 1.30.',
      values: { enabled: flag('Install them.') },
    },
    guard: {
      says: 'The eviction guard.',
      values: {
        networkPolicy: {
          says: 'Lets nothing but the control plane reach it.',
          values: {
            enabled: flag('Install it.'),
            controlPlane: list(
              'Address ranges of the control plane. With the wrong ones evictions in locked namespaces fail.',
              {
                type: 'string',
              },
            ),
          },
        },
      },
    },
    dashboard: {
      says: 'The page, read-only, for users who may get the path /cofferdam/dashboard.',
      values: {
        enabled: flag('Serve it, inside the pods.'),
        service: {
          says: `A Service for it, over HTTPS with the Secret ${dashboardTls.secret}.`,
          values: { enabled: flag('Install it. Needs dashboard.enabled.') },
        },
      },
    },
    metrics: {
      says: "Metrics, for Prometheus' operator and Grafana.",
      values: {
        serviceMonitor: {
          values: {
            enabled: flag('A Service and a ServiceMonitor.'),
            labels: anything('By which your Prometheus chooses it.'),
          },
        },
        rules: {
          values: {
            enabled: flag('Alert rules, each with a link to what to do.'),
            labels: anything('By which your Prometheus chooses them.'),
            runbooks: text('Where the links lead: the page of the alerts.', 'docs/reference/alerts.md'),
          },
        },
        grafanaDashboard: {
          values: { enabled: flag("A ConfigMap that Grafana's sidecar finds by the label grafana_dashboard.") },
        },
      },
    },
    users: {
      says: 'ClusterRoles for people.',
      values: { roles: flag('cofferdam-view (part of view), cofferdam-edit, cofferdam-admin.', true) },
    },
    replicas: {
      says: 'Of the operator: one leads, all serve the eviction guard.',
      default: workload.replicas,
      schema: { type: 'integer', minimum: 1 },
    },
    logLevel: { says: 'How much it logs.', default: 'info', schema: { enum: ['debug', 'info', 'warn', 'error'] } },
    extraArgs: list('Further arguments of cofferdam operator.', { type: 'string' }),
    priorityClassName: text('So that the operator is there when nodes are short.', workload.priorityClassName),
    resources: anything('As in a container.', workload.resources),
    affinity: anything('As in a pod; replicas are kept apart.', workload.affinity),
    nodeSelector: anything('As in a pod.'),
    tolerations: { says: 'As in a pod.', default: [], schema: { type: 'array' } },
  }
}
