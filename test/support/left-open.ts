/** What is open in this process without a handle of the system to tell, such as a daemon: a test that leaves it fails by name. */

const open = new Set<{ readonly name: string }>()

/** Counts something as open until the function that it returns is called. */
export function markOpen(name: string): () => void {
  const entry = { name }
  open.add(entry)
  return () => void open.delete(entry)
}

/** Names of what is open. */
export const openNow = (): readonly string[] => [...open].map(({ name }) => name)
