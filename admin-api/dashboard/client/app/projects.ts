/** The projects of the organization, read once for the switcher and for names. */
import { signal, effect } from '@preact/signals'
import { listProjects, type Project } from '../wire/operations.ts'
import { call } from './api.ts'
import { organization, projectId } from './location.ts'
import { mayRead } from './permissions.ts'

export const projects = signal<readonly Project[]>([])

/** Reads them now, and again when another organization is chosen, whose projects alone are then known. */
export function followProjects(): void {
  effect(() => {
    projects.value = []
    if (!organization.value || !mayRead.value) return undefined
    const aborter = new AbortController()
    // after a failure screens say what is wrong, and the switcher shows the organization alone
    call(listProjects, { query: { limit: '200' } }, { signal: aborter.signal }).then(
      ({ data }) => aborter.signal.aborted || (projects.value = data),
      () => undefined,
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
