export function LockMark() {
  return (
    <svg class="lock" viewBox="0 0 12 12" aria-hidden="true">
      <path d="M3.500 5V3.700a2.500 2.500 0 0 1 5 0V5H9a1 1 0 0 1 1 1v4a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zm1.300 0h2.400V3.700a1.200 1.200 0 0 0-2.400 0z" />
    </svg>
  )
}
