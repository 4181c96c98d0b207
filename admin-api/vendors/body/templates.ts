/** Templates as clients of other services name them: by an id, or by a name of their own. */

const ownId = /^tpl_/

/** The fields of a send for a template, by its id or slug; numbers are slugs. Without a template, nothing reads the variables. */
export function templateFields(name: string | number | null | undefined, variables: () => unknown): Readonly<Record<string, unknown>> {
  if (name === undefined || name === null || name === '' || name === 0) return {}
  const named = ownId.test(String(name)) ? { template_id: String(name) } : { template_slug: String(name) }
  return { ...named, template_vars: variables() ?? {} }
}
