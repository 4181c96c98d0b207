/** Templates in the form of other services: by id or by name. */

const ownId = /^tpl_/

/** Returns the template fields of a send, by id or slug; numbers are slugs. Reads the variables only if there is a template. */
export function templateFields(name: string | number | null | undefined, variables: () => unknown): Readonly<Record<string, unknown>> {
  if (name === undefined || name === null || name === '' || name === 0) return {}
  const named = ownId.test(String(name)) ? { template_id: String(name) } : { template_slug: String(name) }
  return { ...named, template_vars: variables() ?? {} }
}
