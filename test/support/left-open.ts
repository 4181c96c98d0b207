/** Registers open objects without a system handle, such as daemons. A test that leaves one open fails. */

const open = new Set<{ readonly name: string }>()

/** Registers an open object. The returned function removes it. */
export function markOpen(name: string): () => void {
  const entry = { name }
  open.add(entry)
  return () => void open.delete(entry)
}

/** Names of the open objects. */
export const openNow = (): readonly string[] => [...open].map(({ name }) => name)
