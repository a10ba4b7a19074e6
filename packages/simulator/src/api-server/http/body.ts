import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { load } from 'js-yaml'
import { badRequest } from '../registry/api-errors.ts'
import type { Exchange } from './exchange.ts'
import { findJsonFault } from './json-fault.ts'
import { decodeProtobuf } from './protobuf-body.ts'

/** Fails closed: a body over the limit is refused before it is held in memory. */
export async function readBody({ request }: Exchange, maxBytes: number): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  const parts: Buffer[] = []
  let size = 0
  // Leaving the loop early must not cut the connection: the refusal still has to travel over it.
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    parts.push(part)
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('RequestEntityTooLarge', `Request entity too large: limit is ${maxBytes}`)
}

/** `application/json` of `application/json; charset=utf-8`; empty when the caller named none. */
export function mediaTypeOf({ request }: Exchange): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

export function unsupportedMediaType(given: string, supported: readonly string[]): ApiError {
  return new ApiError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}${
      given === '' ? '' : ` (it came as ${given})`
    }`,
  )
}

const deepest = 1000
// Each alias can at most double what a document unfolds to, so a few are harmless and many are a bomb.
const mostAliases = 10

export function parseJson(text: string): Json {
  if (isDeeperThan(text, deepest)) throw badRequest(`the body of the request nests deeper than ${deepest} levels`)
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    const fault = findJsonFault(text)
    const where = fault
      ? `line ${fault.line}, column ${fault.column}: unexpected ${fault.found}`
      : (error as Error).message
    throw badRequest(`the body of the request is not JSON: ${where}`)
  }
}

export function parseYaml(text: string): Json {
  try {
    // The round trip leaves only what JSON can say, and turns aliases into copies.
    return JSON.parse(JSON.stringify(load(text, { maxAliases: mostAliases }) ?? null)) as Json
  } catch (error) {
    throw badRequest(`the body of the request is not YAML: ${(error as Error).message.split('\n')[0]}`)
  }
}

const protobufType = 'application/vnd.kubernetes.protobuf'
const objectTypes = ['application/json', 'application/yaml', protobufType]

/** A body that carries one object. Without a content type it is taken for JSON. */
export function parseObjectBody(exchange: Exchange, body: Buffer): Json {
  const given = mediaTypeOf(exchange)
  if (given === '' || given === 'application/json') return parseJson(body.toString('utf8'))
  if (given === 'application/yaml') return parseYaml(body.toString('utf8'))
  if (given === protobufType) return parseProtobuf(body)
  throw unsupportedMediaType(given, objectTypes)
}

function parseProtobuf(body: Buffer): Json {
  const object = decoded(body)
  if (object === undefined) {
    throw unsupportedMediaType(`${protobufType} of a kind that is served as JSON only`, objectTypes.slice(0, 2))
  }
  return object
}

function decoded(body: Buffer) {
  try {
    return decodeProtobuf(body)
  } catch (error) {
    throw badRequest(`the body of the request cannot be read: ${(error as Error).message}`)
  }
}

/** Recursion over what was parsed would exhaust the stack long after parsing went well. */
function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === 0x5c) at += 1
      else if (code === 0x22) inString = false
    } else if (code === 0x22) inString = true
    else if (code === 0x7b || code === 0x5b) {
      depth += 1
      if (depth > limit) return true
    } else if (code === 0x7d || code === 0x5d) depth -= 1
  }
  return false
}
