import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { ObjectKey, ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi, Patch } from '@cofferdam/kubernetes/client/kube-api.ts'
import { holdPrefix } from '@cofferdam/product/shared/exchanged-budget.ts'

/** One write of the operator to what is Longhorn's, or lies beside it. */
interface Write {
  readonly verb: 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'
  readonly plural: string
  readonly name: string
  readonly subresource?: string | undefined
  readonly body?: JsonObject | undefined
}

export interface OwnWritePorts {
  readonly namespace: string
  readonly blame: (sentence: string) => void
  /** A replica is deleted. */
  readonly removes: (replica: string) => void
}

const ownTicket = /^cofferdam-eviction-/
const ownMark = /^cofferdam\.io\//

/**
 * Says where the operator writes what is not for it: of Longhorn's objects only the value and the annotations of one setting, and the
 * requests and annotations of nodes, are for users; tickets of an earlier version are taken away, copies in excess deleted.
 * All else, every status and every budget of Longhorn is Longhorn's own.
 */
export function watchOwnWrites(api: KubeApi, { namespace, blame, removes }: OwnWritePorts): KubeApi {
  const judge = (type: ResourceType, key: ObjectKey, write: Omit<Write, 'plural' | 'name'>) => {
    const whole = { ...write, plural: type.plural, name: key.name }
    const isLonghorns = type.group === 'longhorn.io'
    const isBudget = type.plural === 'poddisruptionbudgets' && key.namespace === namespace
    const isElsewhere = isLonghorns && key.namespace !== namespace
    const isAllowed = isElsewhere ? false : isLonghorns ? mayWrite(whole) : !isBudget || mayWriteBudget(whole)
    if (isAllowed) return
    const what = `${type.plural}/${key.name}${write.subresource === undefined ? '' : `/${write.subresource}`}`
    blame(`the operator wrote what is Longhorn's: ${write.verb} ${what} ${JSON.stringify(write.body ?? {})}`)
  }
  return {
    get: (...args) => api.get(...args),
    list: (...args) => api.list(...args),
    watch: (...args) => api.watch(...args),
    create(type, object, options) {
      judge(type as ResourceType, object.metadata as ObjectKey, { verb: 'create' })
      return api.create(type, object, options)
    },
    createSubresource(type, key, subresource, body, options) {
      judge(type, key, { verb: 'create', subresource, body })
      return api.createSubresource(type, key, subresource, body, options)
    },
    update(type, object, options) {
      const { subresource } = options ?? {}
      judge(type as ResourceType, object.metadata as ObjectKey, { verb: 'update', subresource })
      return api.update(type, object, options)
    },
    patch(type, key, patch, options) {
      const { subresource } = options ?? {}
      judge(type as ResourceType, key, { verb: 'patch', subresource, body: bodyOf(patch) })
      return api.patch(type, key, patch, options)
    },
    delete(type, key, options) {
      judge(type as ResourceType, key, { verb: 'delete' })
      if (type.group === 'longhorn.io' && type.plural === 'replicas') removes(key.name)
      return api.delete(type, key, options)
    },
    deleteCollection(type, query, options) {
      judge(type, { name: '*', ...query }, { verb: 'deletecollection' })
      return api.deleteCollection(type, query, options)
    },
  }
}

/** Only merge patches are read; any other one is as good as all of the object. */
function bodyOf(patch: Patch): JsonObject {
  return patch.type === 'merge' ? patch.body : { [`${patch.type} patch`]: null }
}

function mayWrite({ verb, plural, name, subresource, body = {} }: Write): boolean {
  if (subresource !== undefined) return false
  if (plural === 'replicas') return verb === 'delete'
  const { metadata, ...rest } = body
  const annotations = Object.keys(fieldsOf(fieldsOf(metadata)['annotations']))
  const isOwn = hasOnly(metadata, 'annotations', 'resourceVersion') && annotations.every((key) => ownMark.test(key))
  if (verb !== 'patch' || !isOwn) return false
  if (plural === 'settings') return name === 'node-drain-policy' && hasOnly(rest, 'value')
  if (plural === 'nodes') return hasOnly(rest, 'spec') && isRequest(fieldsOf(rest['spec']))
  return plural === 'volumeattachments' && isTicketAway(rest)
}

/** What a user sets to empty a node or disks of it; a whole node is never asked for, only given back. */
function isRequest({ disks = {}, ...node }: JsonObject): boolean {
  const fields = ['evictionRequested', 'allowScheduling']
  return (
    hasOnly(node, ...fields) &&
    node['evictionRequested'] !== true &&
    node['allowScheduling'] !== false &&
    Object.values(fieldsOf(disks)).every((disk) => hasOnly(disk, ...fields))
  )
}

function isTicketAway(body: JsonObject): boolean {
  const spec = fieldsOf(body['spec'])
  const tickets = Object.entries(fieldsOf(spec['attachmentTickets']))
  return (
    hasOnly(body, 'spec') &&
    hasOnly(spec, 'attachmentTickets') &&
    tickets.every(([id, ticket]) => ownTicket.test(id) && ticket === null)
  )
}

/** Budgets of ours, and those of the CSI sidecars, which are told by their label when they are deleted. */
function mayWriteBudget({ verb, name }: Write): boolean {
  return verb !== 'deletecollection' && (name.startsWith(holdPrefix) || name.startsWith('csi-'))
}

function hasOnly(value: unknown, ...keys: readonly string[]): boolean {
  return Object.keys(fieldsOf(value)).every((key) => keys.includes(key))
}

function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {}
}
