const sizes = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

export function bytesText(bytes: number): string {
  let value = bytes
  let size = 0
  while (value >= 1024 && size < sizes.length - 1) {
    value /= 1024
    size += 1
  }
  const shown = value < 10 && size > 0 ? Math.round(value * 10) / 10 : Math.round(value)
  return `${shown} ${sizes[size]}`
}
