import { serviceAccounts } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { onTestFinished } from 'vitest'
import { ApiServer } from '../../api-server.ts'
import { clusterAdmin } from '../../user-info.ts'
import { type HttpFace, type HttpFaceOptions, startHttpFace } from '../http-face.ts'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by the tests
  readonly json: any
}

export interface Call {
  readonly method?: string
  readonly body?: unknown
  readonly type?: string
  readonly accept?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A server with a face on a free port, gone when the test is. */
export async function faceForTest(options: Partial<HttpFaceOptions> = {}) {
  const server = new ApiServer({ clock: realClock, random: seededRandom(1) })
  const face: HttpFace = await startHttpFace({ server, clock: realClock, port: 0, ...options })
  onTestFinished(() => face.close())
  const call = async (path: string, { method, body, type, accept, headers }: Call = {}): Promise<Reply> => {
    const isText = typeof body === 'string' || body === undefined
    const response = await fetch(`${face.url}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
      headers: {
        'user-agent': 'tester/1.0',
        ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }),
        ...(accept === undefined ? {} : { accept }),
        ...headers,
      },
    })
    const text = await response.text()
    const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json') && text !== ''
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
  }
  const api = server.as(clusterAdmin)
  /** A new account in `default`, and a token for it. */
  const tokenOf = async (name: string): Promise<string> => {
    const metadata = { name, namespace: 'default' }
    await api.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
    const { status } = await api.createSubresource(serviceAccounts, metadata, 'token', {})
    return (status as { readonly token: string }).token
  }
  return { server, face, call, api, tokenOf }
}

export function podNamed(name: string, rest: { labels?: Record<string, string>; nodeName?: string } = {}) {
  const { labels, nodeName } = rest
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...(labels === undefined ? {} : { labels }) },
    spec: { containers: [{ name: 'web', image: 'web:1' }], ...(nodeName === undefined ? {} : { nodeName }) },
  }
}

export function configMapNamed(name: string, data: Record<string, string> = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data }
}

export const configMapsPath = '/api/v1/namespaces/default/configmaps'
export const podsPath = '/api/v1/namespaces/default/pods'
