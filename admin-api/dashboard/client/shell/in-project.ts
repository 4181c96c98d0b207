/** Address of the current screen in another project. */
import { link, linkHere, path, query } from '../app/location.ts'

const isId = (text: string): boolean => /^(?:[a-z]+_)?[0-9a-f-]{20,}$/.test(text)

/** Query parameters that belong to one object or to an open form. */
const ofObject: ReadonlySet<string> = new Set(['cursor', 'new', 'edit', 'do'])

/**
 * Returns the address for a project, or for all projects if `project` is empty. Drops ids in the path and in filters, because they belong
 * to the previous project.
 */
export function inProject(project: string): string {
  const [list = ''] = path.value.split(/\/(?:[a-z]+_)?[0-9a-f-]{20,}/)
  if (list !== path.value) return link(list, { project })
  const gone = [...query.value].filter(([name, value]) => name !== 'org' && (ofObject.has(name) || isId(value)))
  return linkHere({ ...Object.fromEntries(gone.map(([name]) => [name, ''])), project })
}
