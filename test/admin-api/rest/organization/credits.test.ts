import test from 'ava'
import { Credits } from '#core/billing/credits/credits.ts'
import { Change } from '#store/change.ts'
import { startFixture } from '../fixture/rest-fixture.ts'

const gibibyte = 2 ** 30
const monthMs = 730n * 3_600_000n
