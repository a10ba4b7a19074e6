import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { TableColumn } from '../resource-definition.ts'
import { ageColumn, column, nameColumn, wideColumn } from './column.ts'
import { labelsText } from './labels-text.ts'

const shownAtMost = 3

interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string
    readonly clusterIP?: string
    readonly clusterIPs?: readonly string[]
    readonly externalIPs?: readonly string[]
    readonly externalName?: string
    readonly ports?: readonly { readonly port: number; readonly nodePort?: number; readonly protocol?: string }[]
    readonly selector?: Readonly<Record<string, string>>
  }
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] }
  }
}

export const serviceColumns: readonly TableColumn[] = [
  nameColumn,
  column<Service>('Type', ({ spec }) => spec?.type ?? 'ClusterIP'),
  column<Service>('Cluster-IP', ({ spec }) => spec?.clusterIPs?.[0] ?? spec?.clusterIP ?? '<none>'),
  column<Service>('External-IP', externalIpText),
  column<Service>('Port(s)', portsText),
  ageColumn,
  wideColumn<Service>('Selector', ({ spec }) => labelsText(spec?.selector)),
]

function externalIpText({ spec, status }: Service): string {
  const external = spec?.externalIPs ?? []
  switch (spec?.type ?? 'ClusterIP') {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || '<none>'
    case 'LoadBalancer': {
      const ingress = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip || hostname || [])
      return [...[...new Set(ingress)].sort(), ...external].join(',') || '<pending>'
    }
    case 'ExternalName':
      return spec?.externalName ?? ''
    default:
      return '<unknown>'
  }
}

function portsText({ spec }: Service): string {
  const ports = (spec?.ports ?? []).map(({ port, nodePort, protocol = 'TCP' }) =>
    nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
  )
  return ports.join(',') || '<none>'
}

interface Endpoints extends KubeObject {
  readonly subsets?: readonly {
    readonly addresses?: readonly { readonly ip: string }[]
    readonly ports?: readonly { readonly port: number }[]
  }[]
}

export const endpointsColumns: readonly TableColumn[] = [
  nameColumn,
  column<Endpoints>('Endpoints', endpointsText),
  ageColumn,
]

function endpointsText({ subsets = [] }: Endpoints): string {
  if (subsets.length === 0) return '<none>'
  return withMore(
    subsets.flatMap(({ addresses = [], ports = [] }) =>
      ports.length === 0
        ? addresses.map(({ ip }) => ip)
        : ports.flatMap(({ port }) =>
            addresses.map(({ ip }) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)),
          ),
    ),
  )
}

interface EndpointSlice extends KubeObject {
  readonly addressType: string
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[] | null
  readonly endpoints?: readonly { readonly addresses?: readonly string[] }[] | null
}

export const endpointSliceColumns: readonly TableColumn[] = [
  nameColumn,
  column<EndpointSlice>('AddressType', ({ addressType }) => addressType),
  column<EndpointSlice>(
    'Ports',
    ({ ports }) => withMore((ports ?? []).map(({ name, port }) => String(port ?? name ?? '*'))) || '<unset>',
  ),
  column<EndpointSlice>(
    'Endpoints',
    ({ endpoints }) => withMore((endpoints ?? []).flatMap(({ addresses = [] }) => addresses)) || '<unset>',
  ),
  ageColumn,
]

function withMore(items: readonly string[]): string {
  const shown = items.slice(0, shownAtMost).join(',')
  return items.length > shownAtMost ? `${shown} + ${items.length - shownAtMost} more...` : shown
}
