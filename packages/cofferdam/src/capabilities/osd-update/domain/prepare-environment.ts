import type { EnvVar } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster, DeviceSelection } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { chosenDevices, deviceSetOf, type GrowthPlace } from './growth-places.ts'
import { clusterEnvironment, monitorEnvironment } from './osd-environment.ts'

const releaseNames: Readonly<Record<string, string>> = { 17: 'quincy', 18: 'reef', 19: 'squid', 20: 'tentacle' }

/** Environment of Rook's program about the place whose disks it prepares. */
export function provisionEnvironment(cluster: CephCluster, place: GrowthPlace, device: string | undefined): EnvVar[] {
  const { spec, status } = cluster
  const version = status?.version?.version
  const release = releaseNames[version?.split('.')[0] ?? '']
  const set = place.claim === undefined ? undefined : deviceSetOf(cluster, place.claim.set)
  const isPortable = place.claim === undefined || set?.portable === true
  const deviceClass = set?.volumeClaimTemplates?.[0]?.metadata?.annotations?.['crushDeviceClass']
  const node = spec?.storage?.nodes?.find(({ name }) => name === place.name)
  const config: Readonly<Record<string, string>> = {
    ...spec?.storage?.config,
    ...node?.config,
    ...(deviceClass !== undefined && { deviceClass }),
  }
  const texts: Readonly<Record<string, string | undefined>> = {
    // Where a volume cannot move, its pod finds out itself which host it is on.
    ROOK_CRUSHMAP_HOSTNAME: isPortable ? place.name : '',
    ROOK_OSD_STORE_TYPE: spec?.storage?.store?.type ?? 'bluestore',
    ROOK_LOG_LEVEL: 'DEBUG',
    ROOK_CEPH_VERSION:
      version === undefined || release === undefined ? undefined : `ceph version ${version} ${release}`,
    ROOK_OSD_CRUSH_DEVICE_CLASS: config['deviceClass'] ?? '',
    ROOK_OSD_CRUSH_INITIAL_WEIGHT: config['initialWeight'] ?? '',
    ROOK_OSD_DATABASE_SIZE: config['databaseSizeMB'],
    ROOK_OSD_WAL_SIZE: config['walSizeMB'],
    ROOK_OSDS_PER_DEVICE: config['osdsPerDevice'],
    ROOK_METADATA_DEVICE: config['metadataDevice'],
    ROOK_ENCRYPTED_DEVICE: config['encryptedDevice'],
    ...(device === undefined
      ? deviceVariables(node ?? {}, spec?.storage ?? {})
      : {
          ROOK_DATA_DEVICES: JSON.stringify([{ id: device, storeConfig: { osdsPerDevice: 1 } }]),
          ROOK_PVC_BACKED_OSD: 'true',
          ROOK_ENCRYPTED_DEVICE: 'false',
          ROOK_PVC_NAME: place.name,
        }),
  }
  return [
    ...clusterEnvironment(cluster, place.name),
    { name: 'ROOK_CEPH_USERNAME', valueFrom: { secretKeyRef: { name: 'rook-ceph-mon', key: 'ceph-username' } } },
    ...monitorEnvironment,
    ...Object.entries(texts).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }])),
  ]
}

function deviceVariables(node: DeviceSelection, all: DeviceSelection): Record<string, string> {
  const chosen = chosenDevices(node, all)
  if (chosen === undefined) return {}
  const { devices: named = [], deviceFilter, devicePathFilter } = chosen
  if (named.length > 0) {
    const list = named.map(({ name = '', fullpath = '', config = {} }) => ({
      id: fullpath === '' ? name : fullpath,
      storeConfig: storeConfig(config),
    }))
    return { ROOK_DATA_DEVICES: JSON.stringify(list) }
  }
  if (deviceFilter) return { ROOK_DATA_DEVICE_FILTER: deviceFilter }
  if (devicePathFilter) return { ROOK_DATA_DEVICE_PATH_FILTER: devicePathFilter }
  return { ROOK_DATA_DEVICE_FILTER: 'all' }
}

const counted: readonly string[] = ['osdsPerDevice', 'databaseSizeMB', 'walSizeMB']

/** A spec has texts only; Rook's program wants numbers and truth values as such. */
function storeConfig(config: Readonly<Record<string, string>>): Record<string, string | number | boolean> {
  const typed = Object.entries(config).map(([name, text]): [string, string | number | boolean] => {
    if (counted.includes(name)) return [name, Number(text)]
    return [name, name === 'encryptedDevice' ? text === 'true' : text]
  })
  return { osdsPerDevice: 1, ...Object.fromEntries(typed) }
}
