import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { accessRefused } from '../access/access-refused.ts'
import { badRequest, notFound, resourceNotServed } from '../registry/api-errors.ts'
import { clusterAdmin, type UserInfo } from '../user-info.ts'
import { asApiError } from './answer.ts'
import { parseTarget } from './exchange.ts'
import { parseResourcePath } from './resource-path.ts'
import type { ServedApi } from './served-api.ts'
import { acceptWebSocket, chooseProtocol, type WebSocketEnd } from './web-socket.ts'

export interface ExecRequest {
  readonly pod: Pod
  readonly container: string
  readonly argv: readonly string[]
}

export interface ExecEnd {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** How a program is run in a container. Undefined: there is nothing behind this container that could run one. */
export type Exec = (request: ExecRequest) => ((signal: AbortSignal) => Promise<ExecEnd>) | undefined

export interface ExecPorts {
  readonly server: ServedApi
  readonly exec: Exec
  readonly identify: (request: IncomingMessage) => UserInfo
}

const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const channels = { out: 1, err: 2, status: 3 }
const chunkBytes = 60_000

/**
 * `pods/exec` over a WebSocket, without input, as `kubectl exec POD -- COMMAND` asks for it.
 *
 * Fails closed: whoever may not both get and create `pods/exec` is refused before anything runs.
 */
export async function answerExec(
  ports: ExecPorts,
  request: IncomingMessage,
  socket: Duplex,
  signal: AbortSignal,
): Promise<void> {
  let running: Promise<ExecEnd>
  let stream: WebSocketEnd
  try {
    const found = await findContainer(ports, request)
    const run = ports.exec(found)
    if (run === undefined) {
      const { namespace, name } = found.pod.metadata
      throw badRequest(
        `container ${found.container} of pod ${namespace}/${name} is simulated: no program can run in it`,
      )
    }
    const protocol = chooseProtocol(request, protocols)
    if (protocol === undefined) throw badRequest(`the stream must be a WebSocket that speaks ${protocols.join(' or ')}`)
    running = run(signal)
    stream = acceptWebSocket(request, socket, protocol)
  } catch (error) {
    refuse(socket, asApiError(error))
    return
  }
  const end = await running.then(
    (ended) => ({ ...ended, status: JSON.stringify(statusOf(ended)) }),
    (error: unknown) => ({ out: '', err: '', status: JSON.stringify(asApiError(error).toStatus()) }),
  )
  sendText(stream, channels.out, end.out)
  sendText(stream, channels.err, end.err)
  sendText(stream, channels.status, end.status)
  stream.close()
}

async function findContainer({ server, identify }: ExecPorts, request: IncomingMessage): Promise<ExecRequest> {
  const user = identify(request)
  const { segments, query } = parseTarget(request.url ?? '/')
  const path = parseResourcePath(segments)
  if (path?.group !== '' || path.plural !== 'pods' || path.subresource !== 'exec') throw resourceNotServed()
  const { name = '', namespace = '' } = path
  for (const verb of ['get', 'create']) {
    const asked = { verb, group: '', resource: 'pods', subresource: 'exec', namespace, name }
    if (!server.authorizer.isAllowed(user, asked)) throw accessRefused(user, asked)
  }
  const pod = await findPod(server, { namespace, name })
  const names = pod.spec.containers.map((container) => container.name)
  const container = query.get('container') || names[0] || ''
  if (!names.includes(container)) throw badRequest(`container ${container} is not valid for pod ${name}`)
  if (pod.status?.phase !== 'Running') {
    throw badRequest(
      `pod ${name} does not have a host assigned or does not run: it is ${pod.status?.phase ?? 'Pending'}`,
    )
  }
  const argv = query.getAll('command')
  if (argv.length === 0) throw badRequest('you must specify at least 1 command for the container')
  return { pod, container, argv }
}

async function findPod(server: ServedApi, key: { readonly namespace: string; readonly name: string }): Promise<Pod> {
  try {
    return await server.as(clusterAdmin).get(pods, key)
  } catch (error) {
    throw hasReason(error, 'NotFound') ? notFound(pods, key.name) : error
  }
}

function sendText(stream: WebSocketEnd, channel: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += chunkBytes) {
    stream.send(Buffer.concat([Buffer.from([channel]), bytes.subarray(from, from + chunkBytes)]))
  }
}

function statusOf({ code }: ExecEnd): JsonObject {
  if (code === 0) return { metadata: {}, status: 'Success' }
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  }
}

function refuse(socket: Duplex, error: ApiError): void {
  if (!socket.writable) return
  const body = JSON.stringify(error.toStatus())
  socket.end(
    `HTTP/1.1 ${error.code} ${error.reason}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
