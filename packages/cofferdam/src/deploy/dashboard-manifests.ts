import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { dashboardPath } from '../shared/dashboard-permission.ts'
import { dashboardPort, operatorAccount, operatorLabels } from './operator-manifests.ts'

const { namespace } = operatorAccount
const name = 'cofferdam-dashboard'
const labels = { 'app.kubernetes.io/name': 'cofferdam', 'app.kubernetes.io/component': 'dashboard' }

/** The Secret with certificate and key, of the type `kubernetes.io/tls`, and where it is mounted. */
export const dashboardTls = { secret: 'cofferdam-dashboard-tls', folder: '/etc/cofferdam/dashboard-tls' } as const

/** Bind it to those who may see all that the operator sees. It is bound to no subject here. */
export function buildDashboardViewer(): JsonObject[] {
  return [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'cofferdam-dashboard-viewer', labels },
      rules: [{ nonResourceURLs: [dashboardPath], verbs: ['get'] }],
    },
  ]
}

/** For an Ingress or a load balancer. Without it the page is reached by `kubectl port-forward`. */
export function buildDashboardService(): JsonObject[] {
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace, labels },
      spec: { selector: operatorLabels, ports: [{ name: 'https', port: 443, targetPort: 'dashboard' }] },
    },
  ]
}

/** The Secret is optional, so that the operator starts without it: only the page waits for it. */
export const dashboardAdditions = [
  { path: '/spec/template/spec/containers/0/ports/-', value: { name: 'dashboard', containerPort: dashboardPort } },
  {
    path: '/spec/template/spec/containers/0/volumeMounts',
    value: [{ name: 'dashboard-tls', mountPath: dashboardTls.folder, readOnly: true }],
  },
  {
    path: '/spec/template/spec/volumes',
    value: [{ name: 'dashboard-tls', secret: { secretName: dashboardTls.secret, optional: true } }],
  },
] as const
