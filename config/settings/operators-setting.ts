/** Description of the setting for operators. */
import type { Documentation } from './fields.ts'

export const operatorsTexts: Documentation = {
  description:
    'Email addresses of people with the permissions of the operator key in the dashboard. They must sign in with a verified address. Empty: no people.',
  limit: 'a list of at most 64 email addresses such as ops@example.com',
}
