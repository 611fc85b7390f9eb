"""What people do in two browsers, from end to end: edit, conflict, undo, reject, review."""

from __future__ import annotations

from typing import Any

from tests.serve.browser import browser, needs_browser, show_on
from tests.serve.test_acting import RISK, Acting, Tab, acting

__all__ = ["acting"]


def edit_risk(tab: Tab, value: str) -> None:
    """Open the form of a value, and see what another one does."""
    tab.open("page/Drug/Shared")
    tab.window.find_element("css selector", "a[aria-label='Edit risk']").click()
    tab.type("value", value)
    tab.click("Show what it does")


@needs_browser
def test_two_people_correct_and_review(acting: Acting, window: Any) -> None:
    acting.kip(RISK, name="Shared", risk=2)
    acting.fact("Willow Bark")
    with browser() as second:
        show_on(second, 390, is_dark=True)
        ada, bea = (
            Tab(window, acting, "ada", "127.0.0.1"),
            Tab(second, acting, "bea", "127.0.0.1"),
        )
        # Both edit: the second one sees what the first one wrote beside what is theirs.
        edit_risk(ada, "4")
        edit_risk(bea, "7")
        ada.click("Write it")
        assert "Written as commit" in ada.text
        bea.click("Write it")
        assert all(text in bea.text for text in ("KIP_3005", "human/ada", "What was changed"))
        assert acting.drug("Shared")["attributes"]["risk"] == 4
        bea.click("Write mine on top")
        assert acting.drug("Shared")["attributes"]["risk"] == 7
        # Undo, from the notice.
        bea.click("Undo")
        assert "by human/bea (UPSERT): 1 change." in bea.text
        bea.click("Write it")
        assert acting.drug("Shared")["attributes"]["risk"] == 4
        # Reject a value: the agent does not write it again.
        ada.open("explore/act/reject/Drug/Shared?key=attributes.risk")
        ada.type("reason", "A typing error.")
        ada.click("Show what it does")
        ada.click("Write it")
        refused = acting.kip(RISK, name="Shared", risk=4)["error"]
        assert (refused["code"], "A typing error." in str(refused)) == ("KIP_3004", True)
        # Add a fact, with what people choose as they type.
        ada.open("explore/act/fact/Drug/Shared")
        ada.type("predicate", "treats")
        ada.type("other", "headache")
        ada.choose("other_is", "C:Symptom/Headache")
        ada.click("Show what it does")
        ada.click("Write it")
        assert "Shared treats Headache" in ada.text
        # Review what was proposed: one is approved, one declined.
        for name, risk in (("Shared", 1), ("Willow Bark", 3)):
            assert "proposed" in acting.kip(RISK, "eve", name=name, risk=risk)["result"]
        bea.open("page/Drug/Shared")
        assert "Proposals 2" in second.find_element("tag name", "nav").text
        bea.open("explore/proposals")
        assert "2 wait" in bea.text
        second.find_element("css selector", "button[value=approve]").click()
        bea.wait_for("1 wait")
        bea.type("reason", "Not known.")
        second.find_element("css selector", "button[value=decline]").click()
        bea.wait_for("No proposal waits.")
        assert acting.drug("Shared")["attributes"]["risk"] == 1
        assert "risk" not in acting.drug("Willow Bark").get("attributes", {})
        for driver in (window, second):
            errors = [one for one in driver.get_log("browser") if "409" not in one["message"]]
            assert errors == []
    claude = acting.people["claude"]
    assert "explore/proposals" in acting.people["bob"].page("/page/Drug/Shared")
    assert "explore/proposals" not in claude.page("/page/Drug/Shared")
    assert claude.client.get("/explore/proposals").status_code == 403
