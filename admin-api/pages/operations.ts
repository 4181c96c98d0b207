/** Every page for people, in one list. */
import type { Operation } from '../operation.ts'
import { accountOperations } from './account.ts'
import { assetOperation } from './assets.ts'
import { invitationOperations } from './invitation.ts'
import { memberOperations } from './members.ts'
import { organizationOperations } from './organizations.ts'
import { Pages, type PagesCore } from './page-operation.ts'
import { signInOperations } from './sign-in.ts'

export type { PagesCore } from './page-operation.ts'

export function pageOperations(core: PagesCore): readonly Operation[] {
  const pages = new Pages(core)
  return [
    assetOperation,
    ...signInOperations(pages),
    ...organizationOperations(pages),
    ...invitationOperations(pages),
    ...memberOperations(pages),
    ...accountOperations(pages),
  ]
}
