/** The contract of the ordered map, for the embedded store: with every value in the value log, in tiny segments. */
import test from '#test'
import { levelContract } from '../../contracts/level-contract.ts'

levelContract(test, { maxInline: 0, segmentBytes: 4096 })
