import { badRequest } from './api-errors.ts'

/**
 * A resourceVersion as a number: 0 stands for none and for '0'.
 *
 * @throws ApiError 400 when it is not one of ours
 */
export function readVersion(text: string | undefined): number {
  if (text === undefined || text === '') return 0
  if (/^[0-9]{1,19}$/.test(text)) return Number(text)
  const shown = JSON.stringify(text)
  throw badRequest(`resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: invalid syntax`)
}
