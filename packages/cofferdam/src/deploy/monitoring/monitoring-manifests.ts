import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { operatorAccount, operatorLabels } from '../operator-manifests.ts'
import { alerts } from './alert-rules.ts'
import { buildGrafanaDashboard } from './grafana-dashboard.ts'

const { namespace } = operatorAccount
const name = 'cofferdam-metrics'
const labels = { 'app.kubernetes.io/name': 'cofferdam', 'app.kubernetes.io/component': 'metrics' }

/** Where the sections are that say what to do. */
export const runbooks = 'docs/reference/alerts.md'

export function buildMetricsService(): JsonObject[] {
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace, labels },
      spec: {
        clusterIP: 'None',
        selector: operatorLabels,
        ports: [{ name: 'metrics', port: 7480, targetPort: 'health' }],
      },
    },
  ]
}

/** For the operator of Prometheus, which is told by labels what to take. */
export function buildServiceMonitor(): JsonObject[] {
  return [
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'ServiceMonitor',
      metadata: { name, namespace, labels },
      spec: {
        selector: { matchLabels: labels },
        // Metrics have no label of their own by these names.
        endpoints: [{ port: 'metrics', interval: '30s', honorLabels: false }],
      },
    },
  ]
}

export function buildAlertRules(base: string = runbooks): JsonObject[] {
  return [
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: 'cofferdam', namespace, labels },
      spec: { groups: [{ name: 'cofferdam', rules: alerts.map((alert) => ruleOf(alert, base)) }] },
    },
  ]
}

function ruleOf(alert: (typeof alerts)[number], base: string): JsonObject {
  const { name: title, expression, for: lasts, severity, summary } = alert
  return {
    alert: title,
    expr: expression,
    for: lasts,
    labels: { severity },
    annotations: { summary, runbook_url: `${base}#${title.toLowerCase()}` },
  }
}

/** In the ConfigMap that Grafana's sidecar looks for. */
export function buildDashboardConfig(): JsonObject[] {
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'cofferdam-grafana-dashboard', namespace, labels: { ...labels, grafana_dashboard: '1' } },
      data: { 'cofferdam.json': `${JSON.stringify(buildGrafanaDashboard(), undefined, 2)}\n` },
    },
  ]
}
