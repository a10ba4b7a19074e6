import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type ServedSecret, servedSecretOf } from './guard-secret-data.ts'

export interface CertificateSourceOptions {
  /** The data of the guard's Secret; undefined while there is none. */
  readonly read: (signal: AbortSignal) => Promise<Readonly<Record<string, string>> | undefined>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called with the first one and with every other one after it. */
  readonly onSecret: (secret: ServedSecret) => void | Promise<void>
  readonly onError: (error: unknown) => void
  /** How often to read it. Default 30 s, and every second until there is one. */
  readonly everyMs?: number
}

/**
 * Polls the guard's Secret, until the signal fires. Never rejects.
 *
 * It is read and not watched: a right to watch Secrets would let the guard see those of others.
 */
export async function followCertificate(options: CertificateSourceOptions): Promise<void> {
  const { read, clock, signal, onSecret, onError, everyMs = 30_000 } = options
  let present: string | undefined
  while (!signal.aborted) {
    try {
      const secret = servedSecretOf(await read(signal))
      const version = secret && [secret.serving.certificatePem, ...secret.signingKeys].join()
      if (secret !== undefined && version !== present) {
        await onSecret(secret)
        present = version
      }
    } catch (error) {
      if (!signal.aborted) onError(error)
    }
    await sleep(clock, present === undefined ? Math.min(1_000, everyMs) : everyMs, signal)
  }
}
