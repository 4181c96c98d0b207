/** What the modules of one process share until its end, such as a browser: each is named, so that no guard takes it for a leftover. */

interface Shared {
  readonly close: () => unknown
  /** Its share of `process.getActiveResourcesInfo()`. */
  readonly kinds: readonly string[]
}

const shared = new Map<string, Shared>()

/** Keeps a resource open until the last test of this process has ended. */
export function shareUntilTheEnd(name: string, close: () => unknown, kinds: readonly string[] = []): void {
  shared.set(name, { close, kinds })
}

/** Takes back a resource that has ended by itself. */
export function unshare(name: string): void {
  shared.delete(name)
}

/** Kinds of active resources that belong to no test. */
export const sharedResources = (): readonly string[] => [...shared.values()].flatMap(({ kinds }) => kinds)

/** Closes all of them. */
export async function closeShared(): Promise<void> {
  const all = [...shared.values()]
  shared.clear()
  for (const { close } of all) await close()
}
