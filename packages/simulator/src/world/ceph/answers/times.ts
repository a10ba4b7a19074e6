/** `2026-11-15T00:36:16.880491+0000`, as most of Ceph writes time. */
export function cephTime(ms: number): string {
  let text = printed.get(ms)
  if (text === undefined) {
    text = `${new Date(ms).toISOString().slice(0, 23)}000+0000`
    if (printed.size >= mostPrinted) printed.clear()
    printed.set(ms, text)
  }
  return text
}

/** One answer has the same few timestamps in it many times. */
const printed = new Map<number, string>()
const mostPrinted = 1_000

/** `2026-11-15T00:36:16.051030Z`, as the mon map and OSD metadata have it. */
export function zuluTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`
}

export function unixSeconds(ms: number): number {
  return Math.floor(ms / 1_000)
}
