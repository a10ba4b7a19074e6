import { createHmac, timingSafeEqual } from 'node:crypto'
import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'

const header = textPart({ alg: 'HS256', typ: 'JWT' })
const longestToken = 8_192

/** The claims as a JSON Web Token, signed with the key. */
export function signToken(claims: JsonObject, key: string): string {
  const content = `${header}.${textPart(claims)}`
  return `${content}.${signatureOf(content, key)}`
}

/** The claims of a token that was signed with this key; undefined for anything else. */
export function readSignedToken(token: string, key: string): JsonObject | undefined {
  if (token.length > longestToken) return undefined
  const [head, body, signature, ...more] = token.split('.')
  if (head !== header || body === undefined || signature === undefined || more.length > 0) return undefined
  const [given, wanted] = [Buffer.from(signature), Buffer.from(signatureOf(`${head}.${body}`, key))]
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
  const claims: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))
  return isJsonObject(claims) ? claims : undefined
}

function signatureOf(content: string, key: string): string {
  return createHmac('sha256', key).update(content).digest('base64url')
}

function textPart(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
