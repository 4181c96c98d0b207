/** Resources that the test modules of a process share. Each starts for the first module that needs it, and ends with the process. */

export interface SharedResource extends AsyncDisposable {
  /** Starts the resource again if it died. */
  renew(): Promise<void>
}

/** Outlives the modules of the process. */
const resources = new Map<string, Promise<SharedResource>>()

/** Starts the resource unless the process has it. AVA ends it after the last test of the process. */
export async function shareUntilTheEnd<Resource extends SharedResource>(name: string, start: () => Promise<Resource>): Promise<Resource> {
  const present = resources.get(name)
  if (present) return (await present) as Resource
  const isFirst = resources.size === 0
  const starting = start()
  resources.set(name, starting)
  starting.catch(() => resources.delete(name))
  if (isFirst) await closeWithAva()
  return starting
}

/** Starts dead resources again. Called before each test, before the guards count the handles of the process. */
export async function renewShared(): Promise<void> {
  for (const resource of resources.values()) await (await resource).renew()
}

/** Number of resources that the process shares. */
export const sharedCount = (): number => resources.size

/** Ends all shared resources. */
export async function closeShared(): Promise<void> {
  const ending = [...resources.values()]
  resources.clear()
  for (const resource of ending) await (await resource)[Symbol.asyncDispose]()
}

/** Imports AVA late: programs that run without AVA import this module too. */
async function closeWithAva(): Promise<void> {
  const { registerCompletionHandler } = await import('ava')
  registerCompletionHandler(() => void closeShared())
}
