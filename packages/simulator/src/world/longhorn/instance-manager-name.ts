import type { LonghornDataEngine } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { hashOfName } from './hash-of-name.ts'

export interface InstanceManagerPlace {
  readonly node: string
  readonly image: string
  readonly dataEngine: LonghornDataEngine
}

/** Name of the instance manager, its pod and its budget. */
export function instanceManagerName({ node, image, dataEngine }: InstanceManagerPlace): string {
  return `instance-manager-${hashOfName(`${node}${image}${dataEngine}`).slice(0, 32)}`
}

export function instanceManagerLabels({ node, image, dataEngine }: InstanceManagerPlace): Record<string, string> {
  return {
    'longhorn.io/component': 'instance-manager',
    'longhorn.io/data-engine': dataEngine,
    'longhorn.io/instance-manager-image': `imi-${hashOfName(image.replace(/[:/]/g, '-')).slice(0, 8)}`,
    'longhorn.io/instance-manager-type': 'aio',
    'longhorn.io/managed-by': 'longhorn-manager',
    'longhorn.io/node': node,
  }
}
