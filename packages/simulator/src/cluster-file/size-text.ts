const mebibyte = 1024 ** 2
const gibibyte = 1024 ** 3

/** For people. */
export function roundedSize(bytes: number): string {
  return bytes < gibibyte ? `${Math.round(bytes / mebibyte)}Mi` : `${Number((bytes / gibibyte).toFixed(1))}Gi`
}

/** As a quantity of exactly so many bytes. */
export function exactSize(bytes: number): string {
  if (bytes % gibibyte === 0) return `${bytes / gibibyte}Gi`
  return bytes % mebibyte === 0 ? `${bytes / mebibyte}Mi` : String(bytes)
}
