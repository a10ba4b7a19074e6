import { computed, signal } from '@preact/signals'

/** The object whose explanation is open, as `explain` takes it: `node/worker-a1`. It is in the address, so that it can be sent to others. */
export const openObject = signal(objectInAddress())

/** Instead of an object the address can name the plan. */
export const planAddress = '#/plan'
export const isPlanOpen = computed(() => openObject.value === 'plan')

export function addressOf(object: string): string {
  return `#/${object}`
}

export function closeObject(): void {
  history.pushState(null, '', location.pathname)
  openObject.value = undefined
}

function objectInAddress(): string | undefined {
  const object = decodeURIComponent(location.hash.replace(/^#\/?/, ''))
  return object === '' ? undefined : object
}

window.addEventListener('hashchange', () => {
  openObject.value = objectInAddress()
})
window.addEventListener('popstate', () => {
  openObject.value = objectInAddress()
})
