import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'

interface Query {
  readonly expression: string
  /** As the legend names it. */
  readonly legend?: string
}

interface Panel {
  readonly title: string
  readonly type: 'stat' | 'timeseries'
  readonly unit?: 's' | 'bytes' | 'short'
  readonly queries: readonly Query[]
}

const ceph = '{{ceph_namespace}}/{{ceph_cluster}}'
const byCluster = 'by (ceph_namespace, ceph_cluster)'

export const panels: readonly Panel[] = [
  { title: 'Leaders', type: 'stat', queries: [{ expression: 'sum(cofferdam_leader)' }] },
  {
    title: 'Requests',
    type: 'timeseries',
    queries: [{ expression: 'max by (phase) (cofferdam_disruptions)', legend: '{{phase}}' }],
  },
  {
    title: 'Evictions of requests',
    type: 'timeseries',
    queries: [{ expression: 'sum by (result) (rate(cofferdam_disruption_evictions_total[5m]))', legend: '{{result}}' }],
  },
  {
    title: 'Evictions that the guard refused',
    type: 'timeseries',
    queries: [{ expression: 'sum by (reason) (rate(cofferdam_guard_refusals_total[5m]))', legend: '{{reason}}' }],
  },
  {
    title: 'Failure domains of Ceph',
    type: 'timeseries',
    queries: [
      { expression: `max ${byCluster} (cofferdam_ceph_open_domains)`, legend: `${ceph} may go` },
      { expression: `max ${byCluster} (cofferdam_ceph_closed_domains)`, legend: `${ceph} held` },
    ],
  },
  {
    title: 'Reason of the last decision about Ceph',
    type: 'timeseries',
    queries: [
      {
        expression: 'max by (ceph_namespace, ceph_cluster, reason) (cofferdam_ceph_decision) == 1',
        legend: `${ceph} {{reason}}`,
      },
    ],
  },
  {
    title: 'Ceph has not answered for',
    type: 'timeseries',
    unit: 's',
    queries: [{ expression: `max ${byCluster} (cofferdam_ceph_silent_seconds)`, legend: ceph }],
  },
  {
    title: 'OSDs of an update',
    type: 'timeseries',
    queries: [
      {
        expression: 'max by (ceph_namespace, ceph_cluster, state) (cofferdam_osd_update_osds)',
        legend: `${ceph} {{state}}`,
      },
    ],
  },
  {
    title: 'Bytes that Longhorn has to copy',
    type: 'timeseries',
    unit: 'bytes',
    queries: [
      { expression: 'max by (longhorn_node) (cofferdam_longhorn_remaining_bytes)', legend: '{{longhorn_node}}' },
    ],
  },
  {
    title: 'Sick nodes that remediators are kept from',
    type: 'timeseries',
    queries: [{ expression: 'max(cofferdam_fencing_sick_nodes_held)' }],
  },
  {
    title: 'Time for one key, 99th percentile',
    type: 'timeseries',
    unit: 's',
    queries: [
      {
        expression:
          'histogram_quantile(0.99, sum by (controller, le) (rate(cofferdam_reconcile_duration_seconds_bucket[5m])))',
        legend: '{{controller}}',
      },
    ],
  },
  {
    title: 'Keys that wait',
    type: 'timeseries',
    queries: [{ expression: 'max by (controller) (cofferdam_queue_keys)', legend: '{{controller}}' }],
  },
]

/** Two panels in a row; the data source is chosen on the page. */
export function buildGrafanaDashboard(): JsonObject {
  const datasource = { type: 'prometheus', uid: '$datasource' }
  return {
    title: 'Cofferdam',
    uid: 'cofferdam',
    schemaVersion: 39,
    tags: ['kubernetes', 'storage'],
    time: { from: 'now-6h', to: 'now' },
    refresh: '30s',
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
    panels: panels.map(({ title, type, unit = 'short', queries }, index) => ({
      id: index + 1,
      title,
      type,
      datasource,
      gridPos: { x: (index % 2) * 12, y: Math.floor(index / 2) * 8, w: 12, h: 8 },
      fieldConfig: { defaults: { unit }, overrides: [] },
      targets: queries.map(({ expression, legend = '' }, query) => ({
        refId: String.fromCharCode(65 + query),
        datasource,
        expr: expression,
        legendFormat: legend,
      })),
    })),
  }
}
