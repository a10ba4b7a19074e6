import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeList, KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { AnswerNotes, EmbeddedApi } from '../embedded-api.ts'
import { badRequest, resourceNotServed } from '../registry/api-errors.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import { chooseForm } from './accept.ts'
import { type Answer, sendAnswer, warn } from './answer.ts'
import { parseObjectBody, readBody } from './body.ts'
import { requireSameKey, sentObject } from './decode.ts'
import { deletedAnswer } from './deleted-answer.ts'
import { type Encoding, encodeList, encodeObject, finishText } from './encode.ts'
import { type Exchange, wrongMethod } from './exchange.ts'
import { parsePatch } from './patch-body.ts'
import { deleteOptions, isTrue, listQuery, watchQuery, writeOptions } from './request-options.ts'
import type { ResourcePath } from './resource-path.ts'
import { subresourcesOf, type Verb, verbsOf } from './served-verbs.ts'
import type { SlowReaders } from './slow-readers.ts'
import { streamWatch } from './watch-stream.ts'

export interface ResourceRequest {
  readonly exchange: Exchange
  readonly api: EmbeddedApi
  readonly definition: ResourceDefinition
  readonly path: ResourcePath
  readonly clock: Clock
  readonly maxBodyBytes: number
  readonly slowReaders: SlowReaders
}

type NamedRequest = ResourceRequest & { readonly key: ObjectKey }

/** Finds what a request asks of a resource, has it done, and answers. */
export async function answerResource(request: ResourceRequest): Promise<void> {
  const { definition, path, exchange } = request
  const { namespaced } = definition.type
  if (path.namespace !== undefined && !namespaced) throw resourceNotServed()
  if (path.name === undefined) return answerCollection(request)
  if (namespaced && path.namespace === undefined) throw resourceNotServed()
  const key = namespaced ? { namespace: path.namespace as string, name: path.name } : { name: path.name }
  const named = { ...request, key }
  const served = path.subresource === undefined ? verbsOf(definition) : subresourceVerbs(definition, path.subresource)
  const verb = namedVerbs[exchange.method]
  if (verb === 'create' && path.subresource !== undefined && served.includes('create')) return postSubresource(named)
  if (verb === undefined || verb === 'create' || !served.includes(verb)) throw wrongMethod()
  switch (verb) {
    case 'update':
      return putObject(named)
    case 'patch':
      return patchObject(named)
    case 'delete':
      return deleteObject(named)
    default:
      return getObject(named)
  }
}

const namedVerbs: Readonly<Record<string, Verb>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

const insideContainers = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

function subresourceVerbs(definition: ResourceDefinition, name: string): readonly Verb[] {
  if (definition.storageKey === 'pods' && insideContainers.has(name)) {
    throw badRequest('pods of this cluster run no containers: there are no logs and nothing to connect to')
  }
  const served = subresourcesOf(definition).find((subresource) => subresource.name === name)
  if (served === undefined) throw resourceNotServed()
  return served.verbs
}

function answerCollection(request: ResourceRequest): Promise<void> {
  const { definition, path, exchange } = request
  const { method, query } = exchange
  const served = verbsOf(definition)
  if ((method === 'GET' || method === 'HEAD') && served.includes('list')) {
    return method === 'GET' && isTrue(query.get('watch')) ? watchCollection(request) : listCollection(request)
  }
  if (definition.type.namespaced && path.namespace === undefined) throw wrongMethod()
  if (method === 'POST') return createObject(request)
  if (method === 'DELETE' && served.includes('deletecollection')) return deleteCollection(request)
  throw wrongMethod()
}

function encodingOf({ exchange, definition, clock }: ResourceRequest): Encoding {
  const asked = exchange.query.get('includeObject')
  if (asked !== null && asked !== 'None' && asked !== 'Metadata' && asked !== 'Object' && asked !== '') {
    throw badRequest(`includeObject must be None, Metadata or Object, not ${JSON.stringify(asked)}`)
  }
  return {
    form: chooseForm(exchange.request.headers.accept),
    definition,
    includeObject: asked || 'Metadata',
    nowMs: clock.now(),
  }
}

function send(request: ResourceRequest, encoding: Encoding, answer: Omit<Answer, 'contentType'>): Promise<void> {
  const { exchange } = request
  const finished = finishText(String(answer.body), encoding.form, isTrue(exchange.query.get('pretty')))
  return sendAnswer(exchange, { ...answer, ...finished })
}

async function getObject(request: NamedRequest): Promise<void> {
  const { api, definition, key, path, exchange } = request
  const encoding = encodingOf(request)
  const object = await api.get(definition.type, key, { signal: exchange.signal, ...subresourceOf(path) })
  await send(request, encoding, { code: 200, body: encodeObject(encoding, object) })
}

async function listCollection(request: ResourceRequest): Promise<void> {
  const { api, definition, path, exchange } = request
  const encoding = encodingOf(request)
  const list = await api.list(definition.type, listQuery(exchange, path.namespace))
  await send(request, encoding, { code: 200, body: encodeList(encoding, list) })
}

async function watchCollection(request: ResourceRequest): Promise<void> {
  const { api, definition, path, exchange, clock, slowReaders } = request
  const encoding = encodingOf(request)
  const events = api.watch(definition.type, watchQuery(exchange, path.namespace))
  await streamWatch(exchange, events, { encodingNow: () => ({ ...encoding, nowMs: clock.now() }), slowReaders })
}

async function createObject(request: ResourceRequest): Promise<void> {
  const { api, definition, path, exchange } = request
  const encoding = encodingOf(request)
  const options = writeOptions(exchange, 'CreateOptions')
  const object = sentObject(definition, path, await readObject(request), unknownFieldWarner(request))
  const notes: AnswerNotes = { onWarning: (text) => warn(exchange, text) }
  const created = await api.create(definition.type, object, { ...options, ...notes })
  await send(request, encoding, { code: 201, body: encodeObject(encoding, created) })
}

function unknownFieldWarner({ exchange }: ResourceRequest): (field: string) => void {
  const isAsked = ['', 'Warn'].includes(exchange.query.get('fieldValidation') ?? '')
  return (field) => {
    if (isAsked) warn(exchange, `unknown field ${JSON.stringify(field)}`)
  }
}

async function putObject(request: NamedRequest): Promise<void> {
  const { path, definition, key, api } = request
  const object = sentObject(definition, path, await readObject(request), unknownFieldWarner(request))
  requireSameKey(object, key)
  const options = writeOptions(request.exchange, 'UpdateOptions')
  await answerWrite(request, (notes) => api.update(definition.type, object, { ...options, ...notes }))
}

async function patchObject(request: NamedRequest): Promise<void> {
  const { api, definition, key, exchange } = request
  const options = writeOptions(exchange, 'PatchOptions')
  const patch = parsePatch(exchange, definition, (await readBody(exchange, request.maxBodyBytes)).toString('utf8'))
  const { fieldManager, ...rest } = options
  // Whoever applies must say who it is; only other writers are named after their program.
  const named = exchange.query.get('fieldManager') || patch.type !== 'apply' ? fieldManager : undefined
  const own = { ...rest, ...(named === undefined ? {} : { fieldManager: named }) }
  await answerWrite(request, (notes) => api.patch(definition.type, key, patch, { ...own, ...notes }))
}

async function answerWrite(
  request: NamedRequest,
  write: (notes: AnswerNotes & { subresource?: string }) => Promise<KubeObject>,
): Promise<void> {
  const encoding = encodingOf(request)
  let code = 200
  const object = await write({
    onWarning: (text) => warn(request.exchange, text),
    onCreated: () => {
      code = 201
    },
    ...subresourceOf(request.path),
  })
  await send(request, encoding, { code, body: encodeObject(encoding, object) })
}

async function postSubresource(request: NamedRequest): Promise<void> {
  const { api, definition, key, path, exchange } = request
  const encoding = encodingOf(request)
  const options = writeOptions(exchange, 'CreateOptions')
  const body = await readObject(request)
  const answer = await api.createSubresource(definition.type, key, path.subresource as string, body, {
    ...options,
    onWarning: (text) => warn(exchange, text),
  })
  await send(request, encoding, { code: 201, body: encodeObject(encoding, answer) })
}

async function deleteObject(request: NamedRequest): Promise<void> {
  const { api, definition, key } = request
  const encoding = encodingOf(request)
  const { waits, ...options } = await readDeleteOptions(request)
  let isGone = false
  const onGone = () => {
    isGone = true
  }
  const last = await api.delete(definition.type, key, { ...options, onGone })
  const { code, object } = deletedAnswer(definition, last, { waits, isGone })
  await send(request, encoding, { code, body: encodeObject(encoding, object) })
}

async function deleteCollection(request: ResourceRequest): Promise<void> {
  const { api, definition, path, exchange } = request
  const { waits: _, ...options } = await readDeleteOptions(request)
  const encoding = encodingOf(request)
  let body = ''
  const onListed = (list: KubeList) => {
    body = encodeList(encoding, list)
  }
  await api.deleteCollection(definition.type, listQuery(exchange, path.namespace), { ...options, onListed })
  await send(request, encoding, { code: 200, body })
}

async function readDeleteOptions(request: ResourceRequest) {
  const { exchange } = request
  const body = await readBody(exchange, request.maxBodyBytes)
  return deleteOptions(exchange, body.length === 0 ? undefined : parseObjectBody(exchange, body))
}

async function readObject({ exchange, maxBodyBytes }: ResourceRequest): Promise<JsonObject> {
  const body = parseObjectBody(exchange, await readBody(exchange, maxBodyBytes))
  if (!isJsonObject(body)) throw badRequest('the body of the request must be one object')
  return body
}

function subresourceOf({ subresource }: ResourcePath): { subresource?: string } {
  return subresource === undefined ? {} : { subresource }
}
