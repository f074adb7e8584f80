import asyncio

from door.flag import Flag


async def test_raising_the_flag_wakes_every_waiter() -> None:
    flag = Flag()
    waiting = [asyncio.ensure_future(flag.wait()) for _ in range(3)]
    await asyncio.sleep(0)
    assert not any(waiter.done() for waiter in waiting)
    flag.set()
    await asyncio.gather(*waiting)
    assert flag.is_set()


async def test_a_raised_flag_is_not_waited_for() -> None:
    flag = Flag()
    flag.set()
    await flag.wait()
    flag.clear()
    waiter = asyncio.ensure_future(flag.wait())
    await asyncio.sleep(0)
    assert not waiter.done()
    flag.set()
    await waiter


async def test_a_cancelled_waiter_is_dropped() -> None:
    flag = Flag()
    gone = asyncio.ensure_future(flag.wait())
    await asyncio.sleep(0)
    gone.cancel()
    staying = asyncio.ensure_future(flag.wait())
    await asyncio.sleep(0)
    flag.set()
    await staying
    assert gone.cancelled()
