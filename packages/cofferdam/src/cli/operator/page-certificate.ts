import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { PageCertificate } from '../../dashboard/server/dashboard-server.ts'

/** Reads certificate and key, as a Secret of the type `kubernetes.io/tls` has them when it is mounted. */
export async function readPageCertificate(folder: string): Promise<PageCertificate> {
  try {
    const [certificatePem, privateKeyPem] = await Promise.all(
      ['tls.crt', 'tls.key'].map((file) => readFile(join(folder, file), 'utf8')),
    )
    const read = { certificatePem: certificatePem ?? '', privateKeyPem: privateKeyPem ?? '' }
    createSecureContext({ cert: read.certificatePem, key: read.privateKeyPem })
    return read
  } catch (cause) {
    throw new CofferdamError(
      'FILE_UNREADABLE',
      `no certificate for the page in ${folder}: ${(cause as Error).message}`,
      {
        facts: { path: folder },
        hint: 'It needs tls.crt and tls.key, in PEM, that belong together.',
        cause,
      },
    )
  }
}

const everyMs = 60_000

/** Reads the folder again and again until the signal fires: certificates are renewed under a running process. Never rejects. */
export async function followPageCertificate({
  folder,
  first,
  clock,
  signal,
  onCertificate,
  onError,
}: {
  readonly folder: string
  readonly first: PageCertificate
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onCertificate: (certificate: PageCertificate) => void
  readonly onError: (error: unknown) => void
}): Promise<void> {
  let present = first
  for (;;) {
    await sleep(clock, everyMs, signal)
    if (signal.aborted) return
    try {
      const read = await readPageCertificate(folder)
      if (read.certificatePem === present.certificatePem && read.privateKeyPem === present.privateKeyPem) continue
      onCertificate(read)
      present = read
    } catch (error) {
      onError(error)
    }
  }
}
