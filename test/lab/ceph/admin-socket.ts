import { createConnection } from 'node:net'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'

/** Asks one daemon itself, without the cluster: a text ended by a zero goes in, a length and as many bytes come out. */
export function askDaemon(socket: string, prefix: string): Promise<JsonObject> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const connection = createConnection(socket)
    connection.setTimeout(2_000, () => connection.destroy(new Error(`no answer to ${prefix} from ${socket}`)))
    connection.once('error', reject)
    connection.once('connect', () => connection.write(`${JSON.stringify({ prefix, format: 'json' })}\0`))
    connection.on('data', (chunk) => chunks.push(chunk))
    connection.once('close', () => {
      const answer = Buffer.concat(chunks)
      try {
        resolve(JSON.parse(answer.subarray(4).toString('utf8')) as JsonObject)
      } catch (cause) {
        reject(new Error(`${socket} answered ${answer.length} bytes to ${prefix}`, { cause }))
      }
    })
  })
}
