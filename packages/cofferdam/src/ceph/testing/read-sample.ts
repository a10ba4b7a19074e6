import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('./samples/', import.meta.url)

/** What a real Ceph printed, as text. */
export function readSampleText(name: string, kind: 'json' | 'txt' = 'json'): string {
  return readFileSync(new URL(`${name}.${kind}`, folder), 'utf8')
}

export function readSample(name: string): unknown {
  return JSON.parse(readSampleText(name))
}

/** The names of all samples that match, in order. */
export function sampleNames(pattern: RegExp): readonly string[] {
  return readdirSync(folder)
    .map((file) => file.replace(/\.json$/, ''))
    .filter((name) => pattern.test(name))
    .sort()
}
