/** Templates and their versions agree: each template has all of its versions, and no version is left over. For `verify`. */
import type { Database } from '#store/database.ts'
import { templates, templateVersions, versionId, type Template, type TemplateVersion } from './template.ts'

/** What is wrong with a record of either kind, one sentence each; nothing for records of other kinds. */
export async function templateDisagreements(database: Database, kind: string, organizationId: string, record: unknown): Promise<string[]> {
  if (kind === templates.name) return missingVersions(database, organizationId, record as Template)
  if (kind !== templateVersions.name) return []
  const { templateId, version } = record as TemplateVersion
  const template = (await database.get(templates, { organizationId }, templateId))?.record
  return template && version <= template.currentVersion ? [] : [`the template ${templateId} has no version ${version}`]
}

async function missingVersions(database: Database, organizationId: string, { id, currentVersion }: Template): Promise<string[]> {
  const problems: string[] = []
  for (let version = 1; version <= currentVersion; version++) {
    const stored = await database.get(templateVersions, { organizationId }, versionId(id, version))
    if (!stored) problems.push(`its version ${version} of ${currentVersion} is missing`)
  }
  return problems
}
