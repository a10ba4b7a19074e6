import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect } from 'node:tls'
import { startGuardServer } from '@cofferdam/product/eviction-guard/guard-server.ts'
import {
  createCertificateAuthority,
  issueServerCertificate,
} from '@cofferdam/product/eviction-guard/self-signed-certificate.ts'
import { expect, it } from 'vitest'

const validity = { notBeforeMs: Date.UTC(2020, 0, 1), notAfterMs: Date.UTC(2060, 0, 1) }
const authority = createCertificateAuthority({ commonName: 'one', ...validity })
const certificate = issueServerCertificate({ authority, commonName: 'guard', hosts: ['127.0.0.1'], ...validity })
const ca = authority.certificatePem
const silent = 2_000
/** What the registration gives the guard before the API server gives up. */
const webhookTimeoutMs = 3_000

const attacks: Record<string, (port: number) => Promise<Socket>> = {
  'that never say a word': async (port) => {
    const socket = connectPlain({ host: '127.0.0.1', port })
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  },
  'that are encrypted and never ask': encrypted,
  'that ask one thing that anybody may ask, and keep the line': async (port) => {
    const socket = await encrypted(port)
    socket.write('GET /readyz HTTP/1.1\r\nhost: guard\r\n\r\n')
    return socket
  },
  'that begin a review and never end it': async (port) => {
    const socket = await encrypted(port)
    socket.write('POST /validate/locked/forged HTTP/1.1\r\nhost: guard\r\ncontent-length: 100\r\n\r\n{')
    return socket
  },
}

async function encrypted(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, ca })
  socket.on('error', () => {})
  // One that the guard cuts off in the middle of its greeting is no failure of the guard.
  await new Promise<void>((resolve) => {
    socket.once('secureConnect', resolve)
    socket.once('close', () => resolve())
  })
  return socket
}

async function review(port: number): Promise<number | undefined> {
  const signal = AbortSignal.timeout(webhookTimeoutMs)
  const sent = request({
    host: '127.0.0.1',
    port,
    path: '/validate/locked/word',
    method: 'POST',
    ca,
    agent: false,
    signal,
  })
  sent.end('{}')
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

it.each(Object.entries(attacks))(
  `2,000 connections %s do not keep an eviction waiting: after 1,024 of them every eviction of a locked namespace failed`,
  async (_, attack) => {
    const server = await startGuardServer({
      host: '127.0.0.1',
      port: 0,
      certificate,
      answer: () => ({ code: 200, body: '{}' }),
      recognises: (proof) => proof === 'word',
      whatIsMissing: () => undefined,
    })
    const sockets: Socket[] = []
    try {
      for (let at = 0; at < silent; at += 100) {
        sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => attack(server.port)))))
        expect(await review(server.port)).toBe(200)
      }
      expect(await Promise.all(Array.from({ length: 20 }, () => review(server.port)))).toEqual(Array(20).fill(200))
    } finally {
      for (const socket of sockets) socket.destroy()
      await server.close()
    }
  },
  120_000,
)
