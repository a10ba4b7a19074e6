import { createHash } from 'node:crypto'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { resourceNotServed } from '../registry/api-errors.ts'
import type { ResourceCatalogue } from '../resource-definition.ts'
import { aggregatedVersion, parseAccept } from './accept.ts'
import { type Answer, sendAnswer } from './answer.ts'
import {
  aggregatedDocument,
  apiVersionsDocument,
  groupDocument,
  groupListDocument,
  resourceListDocument,
  type ServedGroup,
  servedGroups,
} from './discovery.ts'
import { type Exchange, wrongMethod } from './exchange.ts'
import { answerHealth, isHealthPath } from './health.ts'
import { encodeOpenapiV2 } from './openapi-protobuf.ts'
import { openapiV2Document } from './openapi-v2.ts'
import { openapiV3Documents, openapiV3Index } from './openapi-v3.ts'
import type { ServerVersion } from './served-api.ts'

export interface MetaSources {
  readonly catalogue: ResourceCatalogue
  readonly version: ServerVersion
  readonly address: () => string
  readonly isReady: () => boolean
}

/** The paths that say what the server is and serves, all but the resources themselves. */
export function metaRoutes(sources: MetaSources): (exchange: Exchange) => Promise<boolean> {
  const known = knowledgeOf(sources)
  return async (exchange) => {
    const answer = answerFor(exchange, sources, known)
    if (answer === undefined) return false
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw wrongMethod()
    await sendAnswer(exchange, typeof answer === 'function' ? answer() : answer)
    return true
  }
}

function answerFor(exchange: Exchange, sources: MetaSources, known: Knowledge): (() => Answer) | undefined {
  const { segments } = exchange
  const [first, second, third] = segments
  if (isHealthPath(segments)) return () => answerHealth(exchange, sources.isReady())
  if (first === 'version' && segments.length === 1) return () => json(versionDocument(sources.version))
  if (first === '' && segments.length === 1) return () => json({ paths: rootPaths(known.groups()) })
  if (first === 'openapi') return openapiAnswer(exchange, known)
  if (first === 'api' && segments.length === 1) {
    const core = known.groups().filter(({ group }) => group === '')
    return () => discoveryAnswer(exchange, core, apiVersionsDocument(sources.address()))
  }
  if (first === 'apis' && segments.length === 1) {
    const named = known.groups().filter(({ group }) => group !== '')
    return () => discoveryAnswer(exchange, named, groupListDocument(known.groups()))
  }
  if (first === 'apis' && segments.length === 2) {
    return () => json(groupDocument(groupNamed(known, second as string)))
  }
  if (first === 'api' && segments.length === 2) return () => resourceList(known, '', second as string)
  if (first === 'apis' && segments.length === 3) return () => resourceList(known, second as string, third as string)
  return undefined
}

interface Knowledge {
  groups(): readonly ServedGroup[]
  openapiV3(): ReadonlyMap<string, string>
  openapiV3Index(): JsonObject
  openapiV2(): JsonObject
  openapiV2Bytes(): Buffer
}

/** Documents are made when somebody asks, and made anew when the resources have changed since. */
function knowledgeOf({ catalogue, version }: MetaSources): Knowledge {
  const fresh = <T>(make: () => T) => {
    let made: { revision: number; value: T } | undefined
    return () => {
      if (made === undefined || made.revision !== catalogue.revision) {
        made = { revision: catalogue.revision, value: make() }
      }
      return made.value
    }
  }
  const groups = fresh(() => servedGroups(catalogue))
  const openapiV3 = fresh(() => openapiV3Documents(groups(), version))
  const openapiV2 = fresh(() => openapiV2Document(groups(), version))
  return {
    groups,
    openapiV3,
    openapiV3Index: fresh(() => openapiV3Index(openapiV3())),
    openapiV2,
    openapiV2Bytes: fresh(() => encodeOpenapiV2(openapiV2())),
  }
}

function groupNamed(known: Knowledge, name: string): ServedGroup {
  const served = name === '' ? undefined : known.groups().find(({ group }) => group === name)
  if (served === undefined) throw resourceNotServed()
  return served
}

function resourceList(known: Knowledge, group: string, version: string): Answer {
  const versions = known.groups().find((served) => served.group === group)?.versions
  const served = versions?.find((candidate) => candidate.version === version)
  if (served === undefined) throw resourceNotServed()
  return json(resourceListDocument(group, version, served.resources))
}

function discoveryAnswer(exchange: Exchange, groups: readonly ServedGroup[], plain: JsonObject): Answer {
  const version = aggregatedVersion(exchange.request.headers.accept)
  const headers = { Vary: 'Accept' }
  if (version === undefined) return { ...json(plain), headers }
  const body = JSON.stringify(aggregatedDocument(groups, version))
  const etag = etagOf(body)
  const contentType = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
  const isKnown = exchange.request.headers['if-none-match'] === etag
  return { code: isKnown ? 304 : 200, body: isKnown ? '' : body, contentType, headers: { ...headers, ETag: etag } }
}

// The first is what old kubectl asks for and cannot read as an answer: its at sign is not allowed in a media type.
const protobufTypes = [
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
]

function openapiAnswer(exchange: Exchange, known: Knowledge): (() => Answer) | undefined {
  const [, version, ...rest] = exchange.segments
  if (version === 'v2' && rest.length === 0) {
    const accepted = parseAccept(exchange.request.headers.accept).map(({ type }) => type)
    const wantsProtobuf = accepted.some((type) => protobufTypes.includes(type))
    return () => {
      if (!wantsProtobuf) return withEtag(exchange, json(known.openapiV2()))
      const contentType = protobufTypes[1] as string
      return withEtag(exchange, { code: 200, body: known.openapiV2Bytes(), contentType })
    }
  }
  if (version !== 'v3') return undefined
  if (rest.length === 0) return () => withEtag(exchange, json(known.openapiV3Index()))
  const document = known.openapiV3().get(rest.join('/'))
  return document === undefined ? undefined : () => withEtag(exchange, { code: 200, body: document })
}

function withEtag(exchange: Exchange, answer: Answer): Answer {
  const etag = etagOf(answer.body)
  const headers = { ETag: etag, Vary: 'Accept-Encoding, Accept' }
  if (exchange.request.headers['if-none-match'] === etag) return { ...answer, code: 304, body: '', headers }
  return { ...answer, headers }
}

function etagOf(body: string | Buffer): string {
  return `"${createHash('sha256').update(body).digest('hex').toUpperCase()}"`
}

function rootPaths(groups: readonly ServedGroup[]): string[] {
  const served = groups.flatMap(({ group, versions }) =>
    group === '' ? ['/api/v1'] : [`/apis/${group}`, ...versions.map(({ version }) => `/apis/${group}/${version}`)],
  )
  return ['/api', ...served, '/apis', '/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz', '/version']
}

function versionDocument({ major, minor, gitVersion }: ServerVersion): JsonObject {
  return {
    major,
    minor,
    gitVersion,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: 'node',
    platform: `${process.platform}/${process.arch}`,
  }
}

function json(document: JsonObject): Answer {
  return { code: 200, body: JSON.stringify(document) }
}
