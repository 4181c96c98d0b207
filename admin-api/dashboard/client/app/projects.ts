/** The projects of the organization, read once for the switcher and for names. */
import { batch, effect, signal } from '@preact/signals'
import { listProjects, type Project } from '../wire/operations.ts'
import { call } from './api.ts'
import { organization, projectId } from './location.ts'
import { mayRead } from './permissions.ts'

export const projects = signal<readonly Project[]>([])
/** Whether they were read, or will not be: until then a screen cannot know the default one. */
export const areProjectsKnown = signal(false)

/** Reads them now, and again when another organization is chosen, whose projects alone are then known. */
export function followProjects(): void {
  effect(() => {
    projects.value = []
    const canRead = organization.value && mayRead.value
    areProjectsKnown.value = !canRead
    if (!canRead) return undefined
    const aborter = new AbortController()
    // after a failure screens say what is wrong, and the switcher shows the organization alone
    const know = (read: readonly Project[]): void => {
      if (aborter.signal.aborted) return
      batch(() => {
        projects.value = read
        areProjectsKnown.value = true
      })
    }
    call(listProjects, { query: { limit: '200' } }, { signal: aborter.signal }).then(
      ({ data }) => know(data),
      () => know([]),
    )
    return () => aborter.abort()
  })
}

/** The project that new things belong to: the chosen one, else the default of the organization. */
export const homeProject = (): Project | undefined =>
  projects.value.find(({ id }) => id === projectId.value) ?? projects.value.find(({ is_default: isDefault }) => isDefault)

/** After one was made or changed. */
export function rememberProject(changed: Project): void {
  const isKnown = projects.value.some(({ id }) => id === changed.id)
  projects.value = isKnown ? projects.value.map((one) => (one.id === changed.id ? changed : one)) : [changed, ...projects.value]
}

/** After it was deleted with its partitions. */
export function forgetProject(gone: string): void {
  projects.value = projects.value.filter(({ id, parent_id: parent }) => id !== gone && parent !== gone)
}
